# setting.gp - what a knob is set to in a specification; a subroutine of knob.gp and heatmap.gp.
#
# Loaded after group.gp. Defines functions and draws nothing.

# "gmp,tick=64,slice=0" and the knob "tick": its value is "64", what is left is "gmp,slice=0".
sl_key(spec, knob) = strstrt(spec . ",", "," . knob . "=")
sl_after(spec, knob) = spec[sl_key(spec, knob) + strlen(knob) + 2:*]
sl_upto_comma(text) = strstrt(text, ",") ? text[1:strstrt(text, ",") - 1] : text
sl_from_comma(text) = strstrt(text, ",") ? text[strstrt(text, ","):*] : ""
# default: where the specification does not name the knob.
sl_setting(spec, knob, default) = sl_key(spec, knob) ? sl_upto_comma(sl_after(spec, knob)) : default
sl_without(spec, knob) = sl_key(spec, knob) \
    ? spec[1:sl_key(spec, knob) - 1] . sl_from_comma(sl_after(spec, knob)) : spec

# The items of a list that are in `order`, from its second word on, as they stand there; then the
# others.
sl_in_order(list, order) = sl_in_order_from(list, order . " " . list, 2, "")
sl_in_order_from(list, order, i, done) = i > words(order) ? done \
    : sl_in_order_from(list, order, i + 1, \
        sl_index(list, word(order, i)) ? sl_add(done, word(order, i)) : done)

# A list of values with its numbers ascending and its words behind them.
sl_is_less(a, b) = !sl_is_number(a) ? 0 : !sl_is_number(b) ? 1 : real(a) < real(b)
sl_place_of(list, item) = 1 + int(sum [sl_m = 1:words(list)] ( \
    sl_is_less(word(list, sl_m), item) || (sl_m < sl_index(list, item) \
        && !sl_is_less(item, word(list, sl_m))) ? 1 : 0))
sl_nth(list, n) = sl_nth_from(list, n, 1)
sl_nth_from(list, n, i) = i > words(list) || sl_place_of(list, word(list, i)) == n \
    ? word(list, i) : sl_nth_from(list, n, i + 1)
sl_ascending(list) = sl_ascending_from(list, 1, "")
sl_ascending_from(list, n, done) = n > words(list) ? done \
    : sl_ascending_from(list, n + 1, sl_add(done, sl_nth(list, n)))
