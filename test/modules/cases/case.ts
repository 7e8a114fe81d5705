/** A table of modules: by what each shows, its files. The first file is the one that is loaded. */
export type Cases = { readonly [what: string]: { readonly [file: string]: string } }
