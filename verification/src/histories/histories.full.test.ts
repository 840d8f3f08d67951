import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { simulate } from './simulate.ts'

t.test('after 800 random histories the log agrees with the books of every provider', async (t) => {
  const histories = { kind: 'histories', seed: 1_000, count: testCycles(800) } as const
  const limits = { deadline: Number.POSITIVE_INFINITY, maxOrders: 1, maxFailures: 3, only: '', threads: 2 }
  const { failures, figures } = await simulate({ ...histories, ...limits })
  t.same(failures, [])
  t.ok(figures.events.size > 15, `${figures.events.size} kinds of events`)
})
