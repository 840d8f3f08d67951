// The queue of waiting proposals: groups, limits and cancellation.
import t from 'tap'
import { createIntake, type Waiting, WriterUnavailableError } from './intake.ts'
import type { Outcome } from './proposal.ts'

function waiting(changes: Partial<Waiting> = {}) {
  const responses: (Outcome | Error)[] = []
  const each: Waiting = {
    proposal: { kind: 'append', stream: 's', expected: -2n, events: [] },
    bytes: 10,
    deadlineMs: Date.now() + 10_000,
    isCancelled: () => false,
    resolve: (outcome) => responses.push(outcome),
    reject: (error) => responses.push(error),
    ...changes,
  }
  return { each, responses }
}

t.test('takeGroup leaves out cancelled and expired proposals', async (t) => {
  const intake = createIntake()
  const good = waiting()
  const late = waiting({ deadlineMs: Date.now() - 1 })
  const gone = waiting({ isCancelled: () => true })
  for (const { each } of [late, good, gone]) intake.add(each)
  t.same(intake.takeGroup(), [good.each])
  t.same(late.responses, [{ kind: 'timeout' }])
  t.type(gone.responses[0], WriterUnavailableError)
  t.ok(intake.isEmpty)
})

t.test('groups are bounded and in order of arrival, and a proposal larger than a group goes alone', async (t) => {
  const intake = createIntake()
  const huge = waiting({ bytes: 9 << 20 })
  const others = Array.from({ length: 600 }, () => waiting())
  for (const { each } of [huge, ...others]) intake.add(each)
  t.same(intake.takeGroup(), [huge.each])
  const one = intake.takeGroup()
  const two = intake.takeGroup()
  t.same([one.length, two.length], [512, 88])
  t.ok([...one, ...two].every((each, index) => each === others[index]?.each))
})

t.test('the intake is congested while too many bytes wait', async (t) => {
  const intake = createIntake()
  for (let count = 0; count < 9; count += 1) intake.add(waiting({ bytes: 8 << 20 }).each)
  t.ok(intake.congested)
  let relieved = false
  const relief = intake.uncongested().then(() => {
    relieved = true
  })
  intake.add(waiting({ bytes: 8 << 20 }).each)
  intake.takeGroup()
  await Promise.resolve()
  t.notOk(relieved, 'still congested')
  intake.takeGroup()
  await relief
  t.notOk(intake.congested)
})

t.test('the intake is congested while too many small proposals wait', async (t) => {
  const intake = createIntake()
  const { each } = waiting({ bytes: 0 })
  for (let count = 0; count < 20_000; count += 1) intake.add(each)
  t.notOk(intake.congested)
  intake.add(each)
  t.ok(intake.congested)
  intake.takeGroup()
  t.notOk(intake.congested)
})

t.test('rejectAll rejects all waiting proposals', async (t) => {
  const intake = createIntake()
  const one = waiting()
  intake.add(one.each)
  intake.rejectAll()
  t.type(one.responses[0], WriterUnavailableError)
  t.ok(intake.isEmpty)
})
