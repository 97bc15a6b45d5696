// page_check.js - what a browser finds in a report, as lines of "ok" and "not ok".
//
// tests/program/test_page.sh puts it at the end of a copy of the page and loads that in headless Chromium, in
// a frame, because a window has a least width that is more than a phone's. The lines go to the page
// around the frame. Every check names what it found.
'use strict';
const lines = [];
const wrongs = [];
addEventListener('error', (event) => wrongs.push(event.message));
addEventListener('securitypolicyviolation', (event) => wrongs.push(event.blockedURI));

function check(name, found) {
    const bad = found.filter((text) => text).slice(0, 5).join('; ');
    lines.push((bad ? 'not ok ' : 'ok ') + name + (bad ? ' # ' + bad.replace(/\s+/g, ' ') : ''));
}
const all = (selector) => [...document.querySelectorAll(selector)];
const about = (element) => element.tagName + '.' + element.getAttribute('class') + ' ' +
    (element.id || element.textContent).slice(0, 40);

// Colours -----------------------------------------------------------------------------------------

function channels(color) {
    return (color.match(/[\d.]+/g) || []).map(Number);
}

function luminance(rgb) {
    const linear = rgb.slice(0, 3).map((c) => c / 255)
        .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function background(element) {
    for (; element; element = element.parentElement) {
        const rgb = channels(getComputedStyle(element).backgroundColor);
        if (rgb.length === 3 || rgb[3] > 0.99)
            return rgb;
    }
    return [255, 255, 255];
}

// What WCAG 2 asks of text, 4.5 to 1; figures were drawn for white and are judged by their makers.
function faint(element) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest('svg, script, style'))
        return '';
    const a = luminance(channels(getComputedStyle(element).color));
    const b = luminance(background(element));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return contrast < 4.5 ? contrast.toFixed(1) + ':1 ' + about(element) : '';
}

// Checks ------------------------------------------------------------------------------------------

// Something wider than the window that does not scroll in a box of its own.
function sticks_out(element) {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 0.5 &&
        !element.parentElement.closest('.scroll, .sheet, pre, svg, nav ul')
        ? about(element) + ' ' + Math.round(box.right) + ' px of ' + innerWidth : '';
}

function is_empty(element) {
    const box = element.getBoundingClientRect();
    return box.width < 8 || box.height < 8 || !element.querySelector('path, use, text, circle')
        ? about(element) + ' ' + box.width + 'x' + box.height : '';
}

// A table of sentences is read without scrolling; one of numbers may scroll in its frame.
function scrolls(table) {
    const frame = table.closest('.scroll');
    return frame && frame.scrollWidth > frame.clientWidth + 1
        ? about(table) + ' ' + frame.scrollWidth + ' px of ' + frame.clientWidth : '';
}

// What a table is about is seen before it is scrolled.
function runs_away(caption) {
    const box = (caption.querySelector('span') || caption).getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth ? about(caption) + ' ' + Math.round(box.right) : '';
}

// Text that runs out of its figure is cut.
function is_cut(text) {
    const svg = text.closest('svg').getBoundingClientRect(), box = text.getBoundingClientRect();
    return box.right > svg.right + 1 || box.left < svg.left - 1 || box.bottom > svg.bottom + 1
        ? text.textContent + ' of ' + text.closest('svg').getAttribute('aria-label') : '';
}

// Pairs of texts that lie on each other by more than a letter's edge.
function touching(svg) {
    const texts = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim())
        .map((t) => [t.textContent, t.getBoundingClientRect()]);
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 * scale &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6 * scale;
    return texts.flatMap(([a, box], i) => texts.slice(i + 1)
        .filter(([, other]) => overlap(box, other)).map(([b]) => a + ' on ' + b));
}

// A number, or a name no longer than a variant's, that is broken over two lines.
function is_broken(cell) {
    const text = cell.textContent.trim(), range = document.createRange();
    range.selectNodeContents(cell);
    // a button and its text begin a pixel or two apart
    const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top / 8)));
    return Math.max(...tops) - Math.min(...tops) > 1 && (cell.tagName === 'TD' || /^[^\s,]{1,12}$/.test(text))
        ? about(cell) + ' on ' + tops.size + ' lines' : '';
}

// The page as it is printed on a sheet 8.5 inches wide. What it changes stays.
function put_on_paper() {
    const style = document.createElement('style');
    style.textContent = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule.media && rule.media.mediaText === 'print')
        .flatMap((rule) => [...rule.cssRules]).map((rule) => rule.cssText).join('\n');
    document.head.append(style);
    document.documentElement.style.width = '739px';
}

function structure() {
    const once = (selector) => all(selector).length === 1 ? '' : all(selector).length + ' ' + selector;
    check('has_landmarks_and_headings', ['main', 'header', 'nav', 'h1', 'title'].map(once));
    check('has_a_language_and_a_title',
        [document.documentElement.lang ? '' : 'no lang', document.title ? '' : 'no title']);
    check('tables_have_captions', all('table').map((t) => t.caption ? '' : about(t)));
    check('header_cells_have_scopes', all('th').map((t) => t.scope ? '' : about(t)));
    check('pictures_have_names', all('svg').map((s) => s.closest('[aria-hidden]') ||
        (s.getAttribute('role') === 'img' && s.getAttribute('aria-label')) ? '' : about(s)));
    check('figures_have_captions',
        all('figure').map((f) => f.querySelector('figcaption') ? '' : about(f)));
    check('links_lead_somewhere', all('a[href], use').map((a) =>
        document.getElementById(a.getAttribute('href').slice(1)) ? '' : a.getAttribute('href')));
    check('no_id_twice', all('[id]').map((e, i, every) =>
        every.findIndex((other) => other.id === e.id) === i ? '' : e.id));
}

function finish() {
    const folded = all('details').length;
    check('fits_folded', all('body *').map(sticks_out));
    structure();
    dispatchEvent(new Event('beforeprint'));
    check('printing_unfolds', all('details.print').map((d) => d.open ? '' : about(d))
        .concat(all('details.print').length > 3 ? [] : ['too few']));
    all('details').forEach((details) => details.open = true);
    check('something_is_folded', [folded > 3 ? '' : folded + ' details']);
    check('fits_unfolded', all('body *').map(sticks_out)
        .concat(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : []));
    check('sentences_need_no_scrolling', all('table:not(.numbers, .cells, .events, .audit)').map(scrolls));
    if (innerWidth > 1000)
        check('throughputs_fit_a_desk', all('table.numbers:not(.events)').map(scrolls));
    check('captions_stay_in_view', all('caption').map(runs_away));
    check('figures_show', all('figure svg').map(is_empty)
        .concat(all('figure svg').length > 5 ? [] : ['too few']));
    check('texts_of_a_figure_keep_apart', all('figure svg').flatMap(touching));
    check('no_text_of_a_figure_is_cut', all('figure svg text').map(is_cut));
    check('strips_show', all('.strip').map(is_empty).concat(all('.strip').length > 5 ? [] : ['too few']));
    check('pictures_load', all('img').map((i) => i.naturalWidth > 0 ? '' : i.src));
    check('text_has_contrast', all('body *').map(faint));
    check('nothing_is_fetched',
        performance.getEntriesByType('resource').map((entry) => entry.name));
    if (innerWidth > 1000) {
        put_on_paper();
        check('paper_is_wide_enough', all('table').map((t) =>
            t.getBoundingClientRect().right > 740 ? about(t) : ''));
        check('paper_breaks_no_number_or_name',
            all('.numbers td.number, .numbers td.range, tbody th[scope=row]').map(is_broken));
    }
    check('no_errors', wrongs);
    lines.push('window ' + innerWidth + ' ' +
        (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light'));
    parent.postMessage(lines.join('\n'), '*');
}
addEventListener('load', finish);
