import type { CopyProgress } from '@paylog/event-store/copy-log/copyLog'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { createCopyProgress } from './copy.ts'

function started({ isTTY }: { isTTY: boolean }) {
  const { show, ...rest } = progressHarness(createCopyProgress, { isTTY })
  return {
    ...rest,
    show(atMs: number, phase: CopyProgress['phase'], events: number) {
      const of = phase === 'survey' ? undefined : 100
      show(atMs, { phase, events, of, position: positionAt(BigInt(events), 0n) })
    },
  }
}

t.test('without a terminal the copy progress is a line every few seconds and at the end of each phase', async (t) => {
  const { show, end, takeWritten } = started({ isTTY: false })
  show(0, 'survey', 1)
  show(4_999, 'survey', 40)
  t.equal(takeWritten(), '')
  show(5_000, 'survey', 50)
  t.equal(takeWritten(), 'Reading: 50 events, 10/s, at position 50\n')
  show(6_000, 'survey', 100)
  show(10_000, 'copy', 1)
  t.equal(takeWritten(), 'Reading: 100 events, 10/s, at position 100\n')
  show(12_000, 'copy', 80)
  end()
  t.equal(takeWritten(), 'Copying: 80 of 100 events, 40/s, at position 80\n')
  end()
  t.equal(takeWritten(), '', 'each line is written once')
})

t.test('on a terminal the copy progress is one changing line, and the end of a phase stays', async (t) => {
  const { show, end, takeWritten } = started({ isTTY: true })
  show(0, 'copy', 1)
  show(100, 'copy', 2)
  show(500, 'copy', 50)
  t.equal(takeWritten(), '\r\u001b[KCopying: 50 of 100 events, 100/s, at position 50')
  show(600, 'copy', 100)
  show(700, 'verification', 1)
  t.equal(takeWritten(), '\r\u001b[KCopying: 100 of 100 events, 143/s, at position 100\n')
  end()
  t.equal(takeWritten(), '\r\u001b[KComparing: 1 of 100 events, at position 1\n')
})
