/** The files of each test case, by its title. The first file is loaded. */
export type Cases = { readonly [what: string]: { readonly [file: string]: string } }
