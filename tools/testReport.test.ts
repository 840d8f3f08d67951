import t from 'tap'
import { createTestReport } from './testReport.ts'

function read(tap: string) {
  const shown: string[] = []
  const report = createTestReport((line) => shown.push(line))
  for (const line of tap.split('\n')) report.add(line)
  return { shown, totals: report.totals(), slowest: report.slowest(1) }
}

t.test('the test report shows a line for each passed file and counts its assertions', async (t) => {
  const { shown, totals } = read(`TAP version 14
1..1
# Subtest: a.test.ts
    # Subtest: one
        ok 1 - should be equal
        1..1
    ok 1 - one # time=3.8ms
    1..1
    # time=12.4ms
ok 1 - a.test.ts # time=12.4ms

# No coverage generated
# { total: 1, pass: 1 }
# time=577.904ms`)
  t.strictSame(shown, ['PASS a.test.ts 12.4ms'])
  t.strictSame(totals, { passed: 1, failed: 0 })
})

t.test('the test report shows failed assertions with their reasons, and no passed ones', async (t) => {
  const { shown, totals, slowest } = read(`# Subtest: a.test.ts
    # Subtest: one
        ok 1 - fine
        not ok 2 - should be equal
          ---
          diff: |
            -2
            +1
          ...
        1..2
    not ok 1 - one
ok 2 - b.test.ts # time=1ms
not ok 3 - a.test.ts # time=12.4ms
  ---
  exitCode: 1
  ...
# { total: 3, pass: 1, fail: 2 }`)
  t.strictSame(slowest, ['a.test.ts 0.0 s'])
  t.equal(shown[0], 'PASS b.test.ts 1ms')
  t.match(shown.join('\n'), 'FAIL a.test.ts 12.4ms')
  t.match(shown.join('\n'), 'exitCode: 1')
  t.notMatch(shown.join('\n'), 'fine')
  t.strictSame(totals, { passed: 1, failed: 2 })
})

t.test('the test report counts a crashed file and a file without tests as one failure each', async (t) => {
  const { shown, totals } = read(`# Subtest: crashed.test.ts
    1..0 # no tests found
not ok 1 - crashed.test.ts # time=3ms
  ---
  signal: SIGKILL
  ...
# Subtest: empty.test.ts
    1..0 # no tests found
ok 2 - empty.test.ts # SKIP no tests found
# { total: 2, pass: 0, fail: 1, skip: 1 }`)
  t.strictSame(totals, { passed: 0, failed: 2 })
  t.strictSame(
    shown.filter((line) => !line.startsWith(' ')),
    ['FAIL crashed.test.ts 3ms', 'FAIL empty.test.ts # SKIP no tests found'],
  )
  t.match(shown.join('\n'), 'signal: SIGKILL')
})

t.test('the test report shows skipped tests and does not count them as failures', async (t) => {
  const { shown, totals } = read(`    ok 1 - sends through Redis # SKIP needs Redis
ok 1 - a.test.ts # time=1ms
# { total: 1, skip: 1 }`)
  t.strictSame(shown, ['     skipped: sends through Redis: needs Redis', 'PASS a.test.ts 1ms'])
  t.strictSame(totals, { passed: 0, failed: 0 })
})

t.test('notTested returns each NOT TESTED reason once', async (t) => {
  const report = createTestReport(() => undefined)
  for (const line of [
    '# Subtest: a.test.ts',
    '    # NOT TESTED: there is no curl',
    '# NOT TESTED: there is no curl',
    '    ok 1 - sends through Redis # SKIP NOT TESTED: there is no redis-server',
    '    ok 2 - loses power # SKIP not requested',
    '# other',
  ])
    report.add(line)
  t.strictSame(report.notTested(), ['NOT TESTED: there is no curl', 'NOT TESTED: there is no redis-server'])
})

t.test('the test report counts nothing when the output ends before its summary', async (t) => {
  t.strictSame(read('ok 1 - a.test.ts # time=1ms').totals, { passed: 0, failed: 0 })
})
