// Reads requirement ids: those of docs/contract.md, and those that test titles end with, as in 'a title [4.2-limit 4.2-page]'.

const id = String.raw`\d+(?:\.\d+)?-[a-z][a-z0-9-]+`
const idGroup = String.raw` \[(${id}(?: ${id})*)\]`
const row = new RegExp(`^\\| (${id}) \\| [^|]+ \\|$`)
const headings = /^\|(?: id |-)/
const titleInSource = new RegExp(`${idGroup}['"\`]`, 'g')
const titleOfResult = new RegExp(`${idGroup}$`)

/**
 * @param page the text of docs/contract.md
 * @returns the ids of its rows, in order
 * @throws Error when a line of a table is not a row, or repeats an id
 */
export function contractIds(page: string): readonly string[] {
  const ids = new Set<string>()
  for (const [index, line] of page.split('\n').entries()) {
    if (!line.startsWith('|') || headings.test(line)) continue
    const found = row.exec(line)?.[1]
    if (found === undefined) throw new Error(`docs/contract.md:${index + 1} is not "| id | requirement |": ${line}`)
    if (ids.has(found)) throw new Error(`docs/contract.md:${index + 1} repeats the id ${found}`)
    ids.add(found)
  }
  return [...ids]
}

/** The ids in the titles of a test file, from its source. */
export const idsInSource = (source: string): readonly string[] => [
  ...new Set([...source.matchAll(titleInSource)].flatMap(([, group = '']) => group.split(' '))),
]

/** The ids at the end of one title. */
export const idsInTitle = (title: string): readonly string[] => titleOfResult.exec(title)?.[1]?.split(' ') ?? []
