// How text is searched without case: the same on the side of the rows and of the question.

/**
 * Text in lower case, letter by letter. As a whole, a text's last sigma would be written differently from one inside,
 * and a part of a word would not be found in it.
 */
export function foldCase(text: string): string {
  return Array.from(text, (letter) => letter.toLowerCase()).join('')
}

/** The pattern for a substring of folded text: what has a meaning in a pattern stands for itself. */
export function containing(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}
