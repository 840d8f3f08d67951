// Cells of CSV files (RFC 4180) that spreadsheets open safely. It imports little, because the console ships it to browsers.
import { visibleText } from './visibleText.ts'

/** Begins a file. Without it spreadsheets read UTF-8 as the encoding of their system. */
export const byteOrderMark = '\ufeff'

/**
 * Where a formula may begin: at the start of a text, and after each character at which a program with other settings than
 * ours splits a row. Such a program ignores the quotes around the text, because for it they are in the middle of a cell.
 * Between that place and the sign there may be blanks, invisible characters and quotes. The signs include their full-width
 * and small forms.
 */
const formulaPlace = /(?<=^|[;,|\t\r\n])(?=[\s\p{C}"]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/gu
const needsQuotes = /[",\r\n]/
/** Most texts, such as ids and times: nothing in them separates, quotes, or begins a formula. The test takes a tenth of the rest. */
const plain = /^\w[\x20\x21\x23-\x2b\x2d-\x3a\x3c-\x7b\x7d\x7e]*$/

/** The text of a cell. What may be taken for a formula gets an apostrophe in front, which makes it a text. */
export function csvCell(text: string): string {
  if (plain.test(text)) return text
  const safe = visibleText(text).replaceAll(formulaPlace, "'")
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const csvLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`
