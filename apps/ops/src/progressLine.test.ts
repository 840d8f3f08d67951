import t from 'tap'
import { createProgressLine, type Progress, partOfLog } from './progressLine.ts'

/** With a fake clock. */
function started({ isTTY }: { isTTY: boolean }) {
  let written = ''
  let time = 0
  const write = (text: string) => {
    written += text
  }
  const line = createProgressLine({ isTTY, write }, () => time)
  return {
    ...line,
    show(atMs: number, progress: Progress) {
      time = atMs
      line.show(progress)
    },
    /** The output since the last call. */
    takeWritten() {
      const text = written
      written = ''
      return text
    },
  }
}

const lines = (done: number, of?: number) => ({ step: 'Importing', done, unit: 'lines', ...(of && { of }) })
const reading = (done: number, position: bigint) => ({
  ...{ step: 'Reading', done, unit: 'events' },
  part: partOfLog(position, 9_000n, 1_000n),
})

t.test('on a terminal the progress is one changing line with a bar, and the end of a step stays', async (t) => {
  const { show, clear, end, takeWritten } = started({ isTTY: true })
  show(0, lines(0, 1_000))
  show(100, lines(10, 1_000))
  t.equal(takeWritten(), '')
  show(1_000, lines(250, 1_000))
  t.equal(takeWritten(), '\r\u001b[KImporting: [=====               ] 25 %, 250 of 1000 lines, 250/s, 3 s left')
  clear()
  t.equal(takeWritten(), '\r\u001b[K', 'the line makes room for other output')
  show(1_100, lines(1_000, 1_000))
  show(1_200, reading(0, 1_000n))
  t.equal(takeWritten(), '\r\u001b[KImporting: [====================] 100 %, 1000 of 1000 lines, 833/s\n')
  end()
  t.equal(takeWritten(), '\r\u001b[KReading: [                    ] 0 %, 0 events\n')
  clear()
  end()
  t.equal(takeWritten(), '', 'an ended step is not cleared, and not shown again')
})

t.test('without a terminal the progress is a line every few seconds and at the end of each step', async (t) => {
  const { show, clear, end, takeWritten } = started({ isTTY: false })
  show(0, lines(0))
  show(4_999, lines(90))
  clear()
  t.equal(takeWritten(), '')
  show(5_000, lines(100))
  t.equal(takeWritten(), 'Importing: 100 lines, 20/s\n')
  show(6_000, reading(0, 1_000n))
  t.equal(takeWritten(), '')
  show(16_000, { ...reading(500, 3_000n), also: '20 missing deliveries' })
  t.equal(takeWritten(), 'Reading: 25 %, 500 events, 50/s, 20 missing deliveries, 30 s left\n')
  show(17_000, reading(900, 9_500n))
  end()
  t.equal(takeWritten(), 'Reading: 100 %, 900 events, 82/s\n')
})

t.test('rate and remaining time leave out what was done before the step started', async (t) => {
  const { show, takeWritten } = started({ isTTY: false })
  show(0, reading(500, 3_000n))
  show(10_000, reading(600, 6_000n))
  t.equal(takeWritten(), 'Reading: 62 %, 600 events, 10/s, 10 s left\n')
})

t.test('the remaining time is in seconds, minutes or hours', async (t) => {
  const { show, takeWritten } = started({ isTTY: false })
  show(0, lines(0, 1_000_000))
  show(5_000, lines(10_000, 1_000_000))
  t.match(takeWritten(), ' 9 min left\n')
  show(1_000_000, lines(50_000, 1_000_000))
  t.match(takeWritten(), ' 6 h left\n')
})

t.test('a step without numbers shows the elapsed time', async (t) => {
  const { show, end, takeWritten } = started({ isTTY: true })
  show(0, { step: 'payments, switching' })
  show(10_000, { step: 'payments, switching' })
  t.equal(takeWritten(), '\r\u001b[Kpayments, switching: 10 s')
  end()
})
