// What is checked after a power failure, with planted losses.
import { createHash } from 'node:crypto'
import { guestTokenFold, recordGuestTokenUse, type SeenGuestToken } from '@paylog/domain/guestToken'
import { createEventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { createRecoveredLog, query } from './recovered.ts'

const log = await startEventStore(t)
const { databaseUrl: url } = log
const store = createEventStore(log)
t.teardown(() => store.close())
const [first, second, third] = [await append('1'), await append('2'), await append('3')]

async function append(token: string) {
  const stream = guestTokenStream(createHash('sha256').update(token).digest('hex'))
  const seen = { guest_email: `${token}@example.com`, occurred_at: '2026-01-01T00:00:00.000Z' }
  const decide = (assumed: SeenGuestToken | null) => recordGuestTokenUse(assumed, seen)
  const metadata = { correlationId: token, causationId: token, actor: 'anonymous' } as const
  const { firstEventId: id = '', position } = await store.handle({ stream, fold: guestTokenFold, decide, metadata })
  return { stream, event: { id, stream, revision: '0', position: String(position?.commit) } }
}

async function problems(acknowledged = [first, second, third]): Promise<string> {
  const recovered = createRecoveredLog()
  return [...(await recovered.read(url, acknowledged)), ...(await recovered.compare(url))].join('\n')
}

t.test('a recovered log with every acknowledged append, and nothing ahead of it, has no problem', async (t) => {
  const { position, id } = second.event
  await query(url, `insert into webhooks.checkpoints values ('here', $1, $1, $2, now())`, [position, id])
  t.equal(await problems(), '')
})

t.test('a checkpoint at an event that is not in the log is a problem', async (t) => {
  await query(url, `update webhooks.checkpoints set commit_position = commit_position + 7 where name = 'here'`)
  t.match(await problems(), /^the checkpoint of here is at \d+, where the log has another event or none$/)
  await query(url, `delete from webhooks.checkpoints where name = 'here'`)
})

t.test('a key that the log needs and Postgres does not have is a problem', async (t) => {
  await query(url, 'delete from privacy.keys where id = (select id from privacy.keys limit 1)')
  t.match(await problems(), /^the log has personal data sealed with the key [0-9a-f-]{36}, which is lost$/)
})

t.test('an acknowledged append that is lost, elsewhere, or leaves a gap is a problem', async (t) => {
  const elsewhere = { ...second, event: { ...second.event, position: '1' } }
  t.match(await problems([first, elsewhere]), /acknowledged, but not there: .*"position":"1"/)
  await query(url, 'update event_store.events set revision = 1 where event_id = $1', [first.event.id])
  t.match(await problems(), new RegExp(`${first.stream} has 1 where 0 should be`))
  const recovered = createRecoveredLog()
  await recovered.read(url, [])
  await query(url, 'delete from event_store.events where event_id = $1', [third.event.id])
  t.match((await recovered.read(url, [])).join(), /of \d+ events are left up to position/)
  t.match(await problems(), new RegExp(`acknowledged, but not there: .*${third.event.id}`))
})
