// Reads requirement ids from docs/contract.md and from the ends of test titles, as in 'a title [4.2-limit 4.2-page]'.

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

// Checks a test run: each requirement id in the files that ran needs a test that passed.

export type ContractRun = {
  /** Takes the next line of tap's output. */
  add(line: string): void
  /** @returns the ids without a test that passed, and those whose tests need something that this machine lacks */
  verdict(): { readonly missing: readonly string[]; readonly untested: readonly string[] }
}

const file = /^# Subtest: (.+\.test\.ts)$/
const result = /^ *(not )?ok \d+ - (.*?)(?: # (time=|SKIP|TODO)(.*))?$/
/** Reasons of tests that are skipped because something is not installed. */
const isLacking = (outcome: string) => /Redis|NOT TESTED/.test(outcome)
/** Reasons of tests that --grep and --only leave out. */
const isFiltered = (outcome: string) => /^skipped: filter: /.test(outcome)

/** @param idsOf the ids in the titles of a test file, by its path in tap's output */
export function createContractRun(idsOf: (file: string) => readonly string[]): ContractRun {
  const fileOf = new Map<string, string>()
  const outcomes = new Map<string, string>()

  return {
    add(line) {
      const started = file.exec(line)?.[1]
      if (started !== undefined) for (const id of idsOf(started)) fileOf.set(id, started)
      const [, failed, title = '', directive = '', rest = ''] = result.exec(line) ?? []
      const isSkipped = directive === 'SKIP' || directive === 'TODO'
      const outcome = failed ? 'failed' : isSkipped ? `skipped:${rest || ' without a reason'}` : 'passed'
      // One passed test is enough for an id in several titles; failures of the others fail the run anyway.
      for (const id of idsInTitle(title)) if (outcomes.get(id) !== 'passed') outcomes.set(id, outcome)
    },
    verdict() {
      const missing: string[] = []
      const untested: string[] = []
      for (const [id, path] of fileOf) {
        const outcome = outcomes.get(id) ?? 'did not run'
        if (outcome === 'passed' || isFiltered(outcome)) continue
        const list = isLacking(outcome) ? untested : missing
        list.push(`[${id}] of ${path} ${outcome}`)
      }
      return { missing, untested }
    },
  }
}
