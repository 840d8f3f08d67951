import t from 'tap'
import { progressHarness } from '../testing/progressHarness.ts'
import { createReconcileProgress } from './reconcile.ts'

function started({ isTTY }: { isTTY: boolean }) {
  const { show, ...rest } = progressHarness(createReconcileProgress, { isTTY })
  return {
    ...rest,
    read: (atMs: number, position: bigint) =>
      show(atMs, { phase: 'reading', events: Number(position), payments: 7, position, head: 1_000n }),
    check: (atMs: number, checked: number) => show(atMs, { phase: 'checking', checked, of: 40 }),
  }
}

t.test('on a terminal the reconcile progress is a bar, which is cleared for lines of the report', async (t) => {
  const { read, check, clear, end, takeWritten } = started({ isTTY: true })
  read(0, 1n)
  read(1_000, 500n)
  t.equal(takeWritten(), '\r\u001b[KReading: [==========          ] 500 events, 500/s, 7 payments to check')
  read(1_100, 1_000n)
  check(1_200, 1)
  t.equal(takeWritten(), '\r\u001b[KReading: [====================] 1000 events, 833/s, 7 payments to check\n')
  check(2_200, 10)
  t.equal(takeWritten(), '\r\u001b[KChecking: [=====               ] 10 of 40 payments, 10/s')
  clear()
  t.equal(takeWritten(), '\r\u001b[K')
  end()
  t.equal(takeWritten(), '\r\u001b[KChecking: [=====               ] 10 of 40 payments, 10/s\n')
  clear()
  t.equal(takeWritten(), '', 'an ended phase stays visible')
})

t.test('without a terminal the reconcile progress is plain lines', async (t) => {
  const { read, check, clear, end, takeWritten } = started({ isTTY: false })
  read(0, 1n)
  read(5_000, 500n)
  t.equal(takeWritten(), 'Reading: 500 events, 100/s, 7 payments to check\n')
  check(6_000, 4)
  clear()
  end()
  t.equal(takeWritten(), 'Checking: 4 of 40 payments\n')
})
