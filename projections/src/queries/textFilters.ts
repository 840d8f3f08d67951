// Case-insensitive text search and e-mail filters, the same for rows and parameters.

/**
 * Lower case, character by character. Lowering whole words would change a final sigma (Unicode, SpecialCasing.txt), and
 * parts of the word would not be found.
 */
export function foldCase(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase()
}

/** The pattern for a substring of folded text, with escaped wildcards. */
export function containsPattern(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** `foldEmail` in SQL. */
export const foldedGuestEmail = `translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`
