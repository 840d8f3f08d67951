// Reads docs/contract.md: which test shows what the interface asks for.

/** A row of the page. `title` is that of a test, or those of a test and the ones around it: `outer > inner`. */
export type ContractRow = { readonly requirement: string; readonly file: string; readonly title: string }

const rowPattern = /^\| (.+) \| `([^`|]+\.test\.ts)` \| `([^`|]+)` \|$/
const headings = /^\|(?: requirement | gap |-)/

/**
 * @param page the text of docs/contract.md
 * @throws Error when a line of a table is no row, because what it asks for would be shown by nobody
 */
export function contractRows(page: string): readonly ContractRow[] {
  const rows: ContractRow[] = []
  for (const [index, line] of page.split('\n').entries()) {
    if (!line.startsWith('|') || headings.test(line)) continue
    const [, requirement, file, title] = rowPattern.exec(line) ?? []
    if (requirement === undefined || file === undefined || title === undefined)
      throw new Error(`docs/contract.md:${index + 1} is not "| requirement | \`file\` | \`title\` |": ${line}`)
    rows.push({ requirement, file, title })
  }
  return rows
}

const testCall = /\.test\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g

/** Of a title that is composed at run time so much has to be written out; less would fit with everything. */
const minLiteralLength = 10

/** Whether the source of a test file has a test of this title. One that is composed at run time fits with any parts. */
export function hasTest(source: string, title: string): boolean {
  const titles = [...source.matchAll(testCall)].map(([, single, double, composed]) =>
    composed === undefined ? [unescaped(single ?? double ?? '')] : composed.split(/\$\{[^}]*\}/).map(unescaped),
  )
  const patterns = titles
    .filter((parts) => parts.length === 1 || parts.join('').length >= minLiteralLength)
    .map((parts) => new RegExp(`^${parts.map(literally).join('.+')}$`, 's'))
  return title.split(' > ').every((part) => patterns.some((pattern) => pattern.test(part)))
}

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
/** @returns the text without its backslashes, as source and as tap write them */
export const unescaped = (text: string) =>
  text.replace(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, hex: string | undefined, character: string) =>
    hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
  )
