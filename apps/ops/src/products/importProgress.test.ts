import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { createImportProgress } from './import.ts'

function started({ isTTY, of }: { isTTY: boolean; of: number | undefined }) {
  const { show, ...rest } = progressHarness(createImportProgress, { isTTY })
  return {
    ...rest,
    show: (atMs: number, lines: number, bytes: number) => show(atMs, { phase: 'importing', lines, bytes, of }),
  }
}

t.test('on a terminal the import progress is a bar by bytes, which is cleared for rejected lines', async (t) => {
  const { show, clear, end, takeWritten } = started({ isTTY: true, of: 1_000 })
  show(0, 0, 0)
  show(1_000, 300, 250)
  t.equal(takeWritten(), '\r\u001b[KImporting: [=====               ] 25 %, 300 lines, 300/s, 3 s left')
  clear()
  t.equal(takeWritten(), '\r\u001b[K')
  show(2_000, 1_100, 999)
  t.equal(takeWritten(), '\r\u001b[KImporting: [====================] 99 %, 1100 lines, 550/s, 1 s left')
  show(2_100, 1_101, 1_004)
  end()
  t.equal(takeWritten(), '\r\u001b[KImporting: [====================] 100 %, 1101 lines, 524/s\n')
})

t.test('without a terminal the import progress is a plain line every few seconds', async (t) => {
  const { show, clear, end, takeWritten } = started({ isTTY: false, of: 1_000_000 })
  show(0, 0, 0)
  show(4_999, 90, 9_000)
  clear()
  t.equal(takeWritten(), '')
  show(5_000, 100, 10_000)
  t.equal(takeWritten(), 'Importing: 1 %, 100 lines, 20/s, 9 min left\n')
  show(10_000, 101, 10_001)
  t.equal(takeWritten(), 'Importing: 1 %, 101 lines, 10/s, 17 min left\n')
  show(1_000_000, 101, 50_000)
  t.equal(takeWritten(), 'Importing: 5 %, 101 lines, 0/s, 6 h left\n')
  end()
  t.equal(takeWritten(), '')
})

t.test('the import progress of standard input has no total', async (t) => {
  const { show, end, takeWritten } = started({ isTTY: true, of: undefined })
  show(0, 0, 0)
  show(200, 10, 1_000)
  t.equal(takeWritten(), '\r\u001b[KImporting: 10 lines, 50/s')
  show(300, 30, 3_000)
  end()
  t.equal(takeWritten(), '\r\u001b[KImporting: 30 lines, 100/s\n')
})

t.test('the import progress of a short file is one line', async (t) => {
  const { show, end, takeWritten } = started({ isTTY: false, of: 10 })
  show(0, 0, 0)
  end()
  t.equal(takeWritten(), 'Importing: 0 %, 0 lines\n')
})
