import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { type BackfillProgress, createBackfillProgress } from './backfill.ts'
import { createRedeliverProgress, type RedeliverProgress } from './redeliver.ts'

t.test('backfill progress shows rate, deliveries and remaining time', async (t) => {
  const shown = progressHarness<BackfillProgress>(createBackfillProgress, { isTTY: false })
  const state = { phase: 'backfilling', from: 1_000n, head: 9_000n } as const
  shown.show(0, { ...state, events: 0, missing: 0, position: 1_000n })
  shown.show(10_000, { ...state, events: 500, missing: 20, position: 3_000n })
  t.equal(shown.takeWritten(), 'Reading: 25 %, 500 events, 50/s, 20 missing deliveries, 30 s left\n')
  shown.show(20_000, { ...state, events: 900, missing: 20, position: 9_500n })
  t.equal(shown.takeWritten(), 'Reading: 100 %, 900 events, 45/s, 20 missing deliveries\n')
})

t.test('redeliver progress shows the done and total numbers', async (t) => {
  const shown = progressHarness<RedeliverProgress>(createRedeliverProgress, { isTTY: true })
  shown.show(0, { phase: 'redelivering', done: 0, of: 4_000 })
  shown.show(2_000, { phase: 'redelivering', done: 1_000, of: 4_000 })
  t.equal(shown.takeWritten(), '\r\u001b[KRedelivering: [=====               ] 1000 of 4000, 500/s, 6 s left')
})
