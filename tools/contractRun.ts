// Follows a run of all tests: did those that docs/contract.md names show what they are named for?
import { type ContractRow, unescaped } from './contract.ts'

export type ContractRun = {
  /** Takes the next line of tap's stream. */
  add(line: string): void
  /** @returns the tests of the page that the run has not shown to pass; and those that need what this machine lacks */
  verdict(): { readonly missing: readonly string[]; readonly untested: readonly string[] }
}

const result = /^( *)(not )?ok \d+ - (.*?)(?: # (time=|SKIP|TODO)(.*))?$/
/** What tests say that are skipped because something is not installed. */
const isMissingDependency = (outcome: string) => /Redis|NOT TESTED/.test(outcome)

/** Follows a run of all tests and remembers what became of those that the page names. */
export function createContractRun(rows: readonly ContractRow[]): ContractRun {
  const wanted = new Map(rows.map((row) => [`${row.file} > ${row.title}`, row]))
  const outcomes = new Map<string, string>()
  /** The file and the tests that the present line is within. */
  const path: string[] = []

  function note(titles: readonly string[], outcome: string): void {
    // A row may leave out the tests around the one that it names, and needs but one of several that are called the same.
    for (let from = 1; from < titles.length; from++) {
      const name = [titles[0], ...titles.slice(from)].join(' > ')
      if (wanted.has(name) && outcomes.get(name) !== 'passed') outcomes.set(name, outcome)
    }
  }

  return {
    add(line) {
      const begun = /^( *)# Subtest: (.*)$/.exec(line)
      if (begun?.[1] !== undefined) {
        path.length = begun[1].length / 4
        path.push(unescaped(begun[2] ?? ''))
        return
      }
      const [, indent = '', failed, description = '', directive = '', rest = ''] = result.exec(line) ?? []
      const depth = indent.length / 4
      const isSkipped = directive === 'SKIP' || directive === 'TODO'
      const title = unescaped(description)
      // Assertions look the same, but nothing announces them.
      if (!isSkipped && path[depth] !== title) return
      const outcome = failed ? 'failed' : isSkipped ? `skipped:${rest || ' without a reason'}` : 'passed'
      note([...path.slice(0, depth), title], outcome)
      path.length = depth
    },
    verdict() {
      const missing: string[] = []
      const untested: string[] = []
      for (const [name, { file, title, requirement }] of wanted) {
        const outcome = outcomes.get(name) ?? 'did not run'
        if (outcome === 'passed') continue
        const summary = `${requirement}: "${title}" of ${file} ${outcome}`
        if (isMissingDependency(outcome)) untested.push(summary)
        else missing.push(summary)
      }
      return { missing, untested }
    },
  }
}
