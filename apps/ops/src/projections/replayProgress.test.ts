import type { ReplayProgress } from '@paylog/projections/rebuild/replay'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { createReplayProgress } from './replayEach.ts'

const at = (position: bigint) => positionAt(position)
const filling = { projection: 'payments', step: 'filling', end: at(8_000n) } as const

t.test('replay progress shows events, rate and remaining time since the start of the step', (t) => {
  const shown = progressHarness<ReplayProgress>(createReplayProgress, { isTTY: true })
  shown.show(0, { ...filling, events: 0, position: undefined })
  shown.show(10_000, { ...filling, events: 500, position: at(2_000n) })
  t.equal(shown.takeWritten(), '\r\u001b[Kpayments, filling: [=====               ] 25 %, 500 events, 50/s, 30 s left')
  shown.show(11_000, { ...filling, step: 'comparing', events: 500, position: at(2_000n) })
  shown.show(21_000, { ...filling, step: 'comparing', events: 500, position: at(2_000n) })
  t.match(shown.takeWritten(), /payments, comparing with the live rows: 10 s$/)
  shown.show(21_000, { ...filling, events: 500, position: at(2_000n) })
  shown.show(31_000, { ...filling, events: 600, position: at(5_000n) })
  t.match(shown.takeWritten(), /payments, filling: \[={13} {7}\] 62 %, 600 events, 10\/s, 10 s left$/)
  shown.end()
  t.end()
})

t.test('replay progress without a terminal has no bar and restarts with each projection', (t) => {
  const shown = progressHarness<ReplayProgress>(createReplayProgress, { isTTY: false })
  shown.show(0, { ...filling, events: 0, position: undefined })
  shown.show(1_000, { ...filling, events: 800, position: at(8_000n) })
  shown.show(2_000, { ...filling, projection: 'products', events: 0, position: undefined })
  t.equal(shown.takeWritten(), 'payments, filling: 100 %, 800 events, 400/s\n')
  shown.show(7_000, { ...filling, projection: 'products', events: 50, position: at(4_000n) })
  t.equal(shown.takeWritten(), 'products, filling: 50 %, 50 events, 10/s, 5 s left\n')
  shown.end()
  t.end()
})
