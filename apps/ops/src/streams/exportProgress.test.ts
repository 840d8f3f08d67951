import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { createExportProgress } from './export.ts'

const at = (events: number, position: bigint) => ({ phase: 'exporting', events, position, head: 1_000n }) as const

t.test('without a terminal the export progress is a line every few seconds with rate and remaining time', async (t) => {
  const { show, end, takeWritten } = progressHarness(createExportProgress, { isTTY: false })
  show(0, { phase: 'looking', events: 1 })
  show(5_000, { phase: 'looking', events: 50 })
  t.equal(takeWritten(), 'Finding the end: 50 later events, 10/s\n')
  show(6_000, at(0, 1n))
  show(11_000, at(100, 250n))
  t.equal(takeWritten(), 'Exporting: 25 %, 100 events, 20/s, 15 s left\n')
  show(12_000, { ...at(400, 1_000n), phase: 'comparing' })
  end()
  t.equal(takeWritten(), 'Comparing: 100 %, 400 events\n')
})

t.test('on a terminal the export progress is a bar', async (t) => {
  const { show, takeWritten } = progressHarness(createExportProgress, { isTTY: true })
  show(0, at(0, 1n))
  show(1_000, at(100, 500n))
  t.equal(takeWritten(), '\r\u001b[KExporting: [==========          ] 50 %, 100 events, 100/s, 1 s left')
})
