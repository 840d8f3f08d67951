import t from 'tap'
import { evidenceUrgency, isUrgent } from './evidence.ts'

const now = Date.parse('2026-11-30T12:00:00Z')
const due = (evidence_due_by: string | null, status = 'open') => evidenceUrgency({ status, evidence_due_by }, now)

t.test('evidence is the more urgent the less time is left', async (t) => {
  t.same(due('2026-12-20T12:00:00Z'), { text: 'due in 20 days', tone: 'quiet' })
  t.same(due('2026-12-07T11:59:00Z'), { text: 'due in 6 days', tone: 'warn' })
  t.same(due('2026-12-02T11:59:00Z'), { text: 'due in 1 d 23 h', tone: 'bad' })
  t.same(due('2026-11-30T15:20:00Z'), { text: 'due in 3 h 20 min', tone: 'bad' })
  t.same(due('2026-11-30T12:00:00Z'), { text: 'overdue', tone: 'bad' })
})

t.test('nothing is asked for in a dispute that has ended, or without a time', async (t) => {
  t.equal(due('2026-12-01T12:00:00Z', 'won'), null)
  t.equal(due('2026-12-01T12:00:00Z', 'lost'), null)
  t.equal(due(null), null)
  t.notOk(isUrgent({ status: 'open', evidence_due_by: null }, now))
  t.ok(isUrgent({ status: 'open', evidence_due_by: '2026-12-02T12:00:00Z' }, now))
})
