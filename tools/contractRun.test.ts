import t from 'tap'
import { createContractRun } from './contractRun.ts'

const stream = String.raw`TAP version 14
# Subtest: a.test.ts
    # Subtest: one
        ok 1 - two
        # Subtest: inner \# 1
            ok 1 - should be equal
            1..1
        ok 2 - inner \# 1 # time=1ms
        1..2
    ok 1 - one # time=3.8ms
    ok 2 - through Redis # SKIP REDIS_TEST_URL is not set: Redis is NOT tested
    ok 3 - later # TODO
    # Subtest: broken
        not ok 1 - inner \# 1
          ---
          1..1
    not ok 4 - broken # time=1ms
    ok 5 - broken
    # Subtest: on Postgres
        # Subtest: twice
            1..0
        ok 1 - twice # time=1ms
    ok 6 - on Postgres # time=1ms
    # Subtest: on Redis
        ok 1 - twice # SKIP there is no Redis
    ok 7 - on Redis # time=1ms
    1..7
ok 1 - a.test.ts # time=12.4ms
# Subtest: b.test.ts
    # Subtest: one
        1..0
    not ok 1 - one # time=3.8ms
not ok 2 - b.test.ts # time=12.4ms
# { total: 1, pass: 1 }`

function verdictOf(...named: readonly (readonly [string, string])[]) {
  const run = createContractRun(named.map(([file, title]) => ({ requirement: 'what is asked', file, title })))
  for (const line of stream.split('\n')) run.add(line)
  return run.verdict()
}

t.test('what passed is shown, by itself or within others', async (t) => {
  const shown = verdictOf(['a.test.ts', 'one'], ['a.test.ts', 'inner # 1'], ['a.test.ts', 'one > inner # 1'])
  t.same(shown, { missing: [], untested: [] })
})

t.test('of several tests of one title one has to pass, unless the one around it is named', async (t) => {
  t.same(verdictOf(['a.test.ts', 'twice']), { missing: [], untested: [] })
  const { untested } = verdictOf(['a.test.ts', 'on Postgres > twice'], ['a.test.ts', 'on Redis > twice'])
  t.same(untested, ['what is asked: "on Redis > twice" of a.test.ts skipped: there is no Redis'])
})

t.test('what failed, was put off or never ran is missing, and named', async (t) => {
  const named = ['broken', 'later', 'two', 'two > inner # 1', 'should be equal'] as const
  const { missing, untested } = verdictOf(...named.map((title) => ['a.test.ts', title] as const), ['b.test.ts', 'one'])
  t.same(missing, [
    'what is asked: "broken" of a.test.ts failed',
    'what is asked: "later" of a.test.ts skipped: without a reason',
    'what is asked: "two" of a.test.ts did not run',
    'what is asked: "two > inner # 1" of a.test.ts did not run',
    'what is asked: "should be equal" of a.test.ts did not run',
    'what is asked: "one" of b.test.ts failed',
  ])
  t.same(untested, [])
})

t.test('what needs something that the machine lacks is told apart', async (t) => {
  t.same(verdictOf(['a.test.ts', 'through Redis']), {
    missing: [],
    untested: ['what is asked: "through Redis" of a.test.ts skipped: REDIS_TEST_URL is not set: Redis is NOT tested'],
  })
})
