import t from 'tap'
import { createContractRun } from './contractRun.ts'

const stream = String.raw`TAP version 14
# Subtest: a.test.ts
    # Subtest: one [1-passed 1-also]
        # Subtest: inner \# 1 [1-inner]
            ok 1 - should be equal
            1..1
        ok 1 - inner \# 1 [1-inner] # time=1ms
        1..1
    ok 1 - one [1-passed 1-also] # time=3.8ms
    ok 2 - through Redis [1-redis] # SKIP REDIS_TEST_URL is not set: Redis is NOT tested
    ok 3 - later [1-later] # TODO
    ok 4 - other [1-other] # SKIP filter: /one/
    not ok 5 - broken [1-broken] # time=1ms
    ok 6 - on Postgres [1-twice] # time=1ms
    ok 7 - on Redis [1-twice] # SKIP there is no Redis
    1..7
not ok 1 - a.test.ts # time=12.4ms
# { total: 1, pass: 1 }`

function verdictOf(...ids: readonly string[]) {
  const run = createContractRun((file) => (file === 'a.test.ts' ? ids : ['1-elsewhere']))
  for (const line of stream.split('\n')) run.add(line)
  return run.verdict()
}

t.test('an id is covered when a test with it passed, alone, nested, or as one of several', async (t) => {
  t.same(verdictOf('1-passed', '1-also', '1-inner', '1-twice'), { missing: [], untested: [] })
})

t.test('an id is missing when its tests failed, are to do, or did not run', async (t) => {
  t.same(verdictOf('1-broken', '1-later', '1-never'), {
    missing: [
      '[1-broken] of a.test.ts failed',
      '[1-later] of a.test.ts skipped: without a reason',
      '[1-never] of a.test.ts did not run',
    ],
    untested: [],
  })
})

t.test('an id is untested when the machine lacks what its test needs', async (t) => {
  t.same(verdictOf('1-redis'), {
    missing: [],
    untested: ['[1-redis] of a.test.ts skipped: REDIS_TEST_URL is not set: Redis is NOT tested'],
  })
})

t.test('ids of files that did not run, and of tests that a filter left out, are ignored', async (t) => {
  t.same(verdictOf('1-other'), { missing: [], untested: [] })
})
