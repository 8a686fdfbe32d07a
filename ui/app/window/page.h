// What a browser's page does for the window: written in JavaScript, in ui/web/page_calls.js. Only
// in the build for the browser, and only on the page's own thread.
#pragma once

extern "C" {

// From now on `turn` is called after each thing that is done to the page: a key, the mouse, its
// size.
void page_listen(void (*turn)(void* window), void* window);
void page_copy(const char* text);
// To be freed.
char* page_pasted();
bool page_is_on_a_mac();
// From now on `take` is called with each file that is dropped on the page or chosen, once all of
// them lie in the page's own file system; `more`: another one of them follows at once.
void page_take_files(void (*take)(void* window, const char* file, bool more), void* window);
void page_choose_files();
// Gives a file of the page's own file system to the browser as a download.
void page_download(const char* file);
// What the page's address asks for, of link ("trainscope:1?lesson=…"), student, lang, theme and
// present; empty: nothing. To be freed.
char* page_asks(const char* name);
// The page's address without what it asks for; to be freed.
char* page_address();
// The first picture is there.
void page_ready();
// Instead of the window, from now on.
void page_fail(const char* sentence);
}
