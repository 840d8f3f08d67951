// Texts in the form in which rows have them for searches, and in which they are searched for.

/** One form for texts that look the same: keyboards send an ü as one character, files of a Mac have it as two. */
export const normalized = (text: string) => text.normalize('NFC')

/**
 * Lower case, character by character. Lowering whole words would change a final sigma (Unicode, SpecialCasing.txt), and
 * parts of the word would not be found.
 */
export function foldCase(text: string): string {
  return normalized(text).replaceAll('Σ', 'σ').toLowerCase()
}

/** `foldEmail` in SQL. @param column that has the e-mail */
export const foldedEmail = (column: string) =>
  `translate(${column}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

export const foldedGuestEmail = foldedEmail('guest_email')
