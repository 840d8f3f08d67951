// Turns tap's raw output into a short report and totals. tap's own reporters print no summary when a file times out.

export type TestReport = {
  /** Adds the next line of tap's output. */
  add(line: string): void
  /** Passed assertions; failed assertions together with crashed files and files without a test. */
  totals(): { passed: number; failed: number }
  /** The slowest files with their seconds, slowest first. Files run concurrently. */
  slowest(count: number): readonly string[]
  /** Distinct comments and skip reasons that begin with NOT TESTED, what this machine lacks, and with MEASURED, figures. */
  notTested(): readonly string[]
}

/** @param show prints a line: one for each file and skipped test, and the failures of each failed file */
export function createTestReport(show: (line: string) => void): TestReport {
  let failures: string[] = []
  let isDiagnosis = false
  let summary = ''
  let emptyFiles = 0
  const untested = new Set<string>()
  const times: { readonly file: string; readonly ms: number }[] = []

  function addFile(ok: boolean, description: string): void {
    // tap counts a file without tests as skipped; here it is a failure.
    const [, path, ms] = /^(.*) # time=([\d.]+)ms/.exec(description) ?? []
    if (path !== undefined) times.push({ file: path, ms: Number(ms) })
    const isEmpty = ok && description.endsWith('# SKIP no tests found')
    if (isEmpty) emptyFiles += 1
    show(`${ok && !isEmpty ? 'PASS' : 'FAIL'} ${description.replace(/ # time=/, ' ')}`)
    if (!ok) for (const line of failures) show(line)
    failures = []
    isDiagnosis = !ok
  }

  // Shows how the process of a failed file ended, and omits the rest of the diagnosis.
  function addDiagnosis(line: string): void {
    if (/^ {2}(exitCode|signal|expired):/.test(line)) show(line)
    if (line === '  ...') isDiagnosis = false
  }

  return {
    add(line) {
      const file = /^(not )?ok \d+ - (.*)$/.exec(line)
      const skipped = /^ +ok \d+ - (.*) # SKIP(.*)$/.exec(line)
      if (file) return addFile(file[1] === undefined, file[2] ?? '')
      const lacking = /^ *(?:ok \d+ - .*)?# (?:SKIP )?((?:NOT TESTED|MEASURED): .*)$/.exec(line)?.[1]
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

// Omits passed assertions, plans, times, and the names of subtests, which their results repeat.
function isNotable(line: string): boolean {
  return line.trim() !== '' && !/^(TAP version| *(ok \d+|\d+\.\.\d+|# (time=|Subtest:|No coverage|\{)))/.test(line)
}
