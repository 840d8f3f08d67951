// Turns tap's raw stream into what a person wants to read, and into totals.
// The stream, because tap's own reporters end without their summary when a file runs out of time.

export type TestReport = {
  /** Takes the next line of the stream. */
  add(line: string): void
  /** Assertions that passed; and assertions that failed, together with files that crashed or ended without running a test. */
  totals(): { passed: number; failed: number }
  /** The files that took longest, longest first, each with its seconds. They run beside each other. */
  slowest(count: number): readonly string[]
  /** What the tests said that this machine lacks: their comments, and reasons to be skipped, that begin with NOT TESTED, each one once. */
  notTested(): readonly string[]
}

/** @param show gets a line for each file and each skipped test, and for a file that failed everything that went wrong in it */
export function createTestReport(show: (line: string) => void): TestReport {
  let failures: string[] = []
  let isDiagnosis = false
  let summary = ''
  let emptyFiles = 0
  const untested = new Set<string>()
  const times: { readonly file: string; readonly ms: number }[] = []

  function addFile(ok: boolean, description: string): void {
    // To tap such a file is merely skipped, but a test file that tests nothing is broken.
    const [, path, ms] = /^(.*) # time=([\d.]+)ms/.exec(description) ?? []
    if (path !== undefined) times.push({ file: path, ms: Number(ms) })
    const isEmpty = ok && description.endsWith('# SKIP no tests found')
    if (isEmpty) emptyFiles += 1
    show(`${ok && !isEmpty ? 'PASS' : 'FAIL'} ${description.replace(/ # time=/, ' ')}`)
    if (!ok) for (const line of failures) show(line)
    failures = []
    isDiagnosis = !ok
  }

  // What stands behind the line of a file that failed: how its process ended, among much that is the same for all.
  function addDiagnosis(line: string): void {
    if (/^ {2}(exitCode|signal|expired):/.test(line)) show(line)
    if (line === '  ...') isDiagnosis = false
  }

  return {
    add(line) {
      const file = /^(not )?ok \d+ - (.*)$/.exec(line)
      const skipped = /^ +ok \d+ - (.*) # SKIP(.*)$/.exec(line)
      if (file) return addFile(file[1] === undefined, file[2] ?? '')
      const lacking = /^ *(?:ok \d+ - .*)?# (?:SKIP )?(NOT TESTED: .*)$/.exec(line)?.[1]
      if (lacking !== undefined) untested.add(lacking)
      if (line.startsWith('# Subtest:')) isDiagnosis = false
      if (line.startsWith('# { total:')) summary = line
      if (skipped) show(`     skipped: ${skipped[1]}${skipped[2] ? `:${skipped[2]}` : ''}`)
      else if (isDiagnosis) addDiagnosis(line)
      else if (isNotable(line)) failures.push(line)
    },
    totals() {
      const count = (name: string) => Number(new RegExp(` ${name}: (\\d+)`).exec(summary)?.[1] ?? 0)
      return { passed: count('pass'), failed: count('fail') + emptyFiles }
    },
    slowest: (count) =>
      times
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, count)
        .map(({ file, ms }) => `${file} ${(ms / 1000).toFixed(1)} s`),
    notTested: () => [...untested],
  }
}

// What passed, plans, times and the names of subtests, which their results repeat, are left out.
function isNotable(line: string): boolean {
  return line.trim() !== '' && !/^(TAP version| *(ok \d+|\d+\.\.\d+|# (time=|Subtest:|No coverage|\{)))/.test(line)
}
