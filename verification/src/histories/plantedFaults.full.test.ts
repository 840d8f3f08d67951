import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { simulate } from './simulate.ts'
import { plantedFaults } from './testing/planted.ts'

const maxHistories = 1_000
const common = {
  kind: 'histories',
  deadline: Number.POSITIVE_INFINITY,
  maxOrders: 1,
  maxFailures: 1,
  only: '',
} as const

// The first is in the quick lane. PAYLOG_TEST_CYCLES=6 runs all of them.
for (const { what, seed, rule, ...fault } of plantedFaults.slice(1, 1 + testCycles(3)))
  t.test(`the simulation finds this planted fault: ${what}`, async (t) => {
    const { failures } = await simulate({ ...common, seed, count: maxHistories, threads: 1 }, { faults: [fault] })
    t.match(failures, [{ rule }])
    const story = failures[0]?.story ?? ''
    t.ok(story.split('\n').length <= 40, story)
  })
