/* py-tree-sitter by way of Python's stable ABI.

   Headers of the very Python that Pyodide has are hard to come by, but those of any newer Python describe the
   stable ABI, and what is compiled against it runs with all of them. py-tree-sitter uses a little more than that
   ABI holds; here it gets the same by functions that are in it. */

#ifndef CLMAP_LIMITED_API_H
#define CLMAP_LIMITED_API_H

#include <Python.h>
#include <ctype.h>

/* A type object up to the members that are used: name, tp_alloc and tp_free. They have lain here since Python 3.8. */
struct _typeobject {
    PyVarObject ob_base;
    const char *tp_name;
    Py_ssize_t tp_basicsize, tp_itemsize;
    void *not_used[32]; /* tp_dealloc to tp_init, each of the size of a pointer on wasm32 */
    allocfunc tp_alloc;
    newfunc tp_new;
    freefunc tp_free;
};

/* For its size alone, which only subclasses of Point would ask for. */
typedef struct {
    PyVarObject ob_base;
    PyObject *ob_item[1];
} PyTupleObject;

#define PyList_SET_ITEM PyList_SetItem
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyTuple_SET_ITEM PyTuple_SetItem
#define Py_ISALNUM(c) isalnum((unsigned char)(c))

#ifndef Py_XSETREF
#define Py_XSETREF(place, value)                                                                                       \
    do {                                                                                                               \
        PyObject *before = (PyObject *)(place);                                                                        \
        (place) = (value);                                                                                             \
        Py_XDECREF(before);                                                                                            \
    } while (0)
#endif

/* Exported by every Python, and in its stable ABI under another name or from a later version on. */
PyAPI_FUNC(const char *) PyUnicode_AsUTF8(PyObject *text);
PyAPI_FUNC(PyObject *) PyDict_SetDefault(PyObject *dictionary, PyObject *key, PyObject *value);

/* In Emscripten's C library, not in wasi-libc's headers. */
int dup(int file);

#endif
