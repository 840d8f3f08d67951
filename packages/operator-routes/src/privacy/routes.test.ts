import { recordedDeeds } from '@paylog/workflows/testing/recordedDeeds'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'

const { get, post, ended, start, eventStore, pool, store } = await operatorHarness(t)
await Promise.all([start('projector'), start('worker')])
const guest_email = 'ada.canary@example.com'
const { keys } = eventStore
const path = '/admin/privacy/erasures'
const erasures = async () => (await get(path)).json().data

await keys.named([`guest:${guest_email}`])
await keys.seen('user:1', guest_email)

t.test('a dry run lists what would go, and changes nothing', async (t) => {
  const started = await post(path, { guest_email, dry_run: true })
  t.equal(started.statusCode, 202)
  t.match(await ended(started.json().data.id), { status: 'succeeded', result: { dry_run: true, keys: 2 } })
  t.equal((await keys.find({ email: guest_email })).length, 2)
  t.same(await erasures(), [])
  t.same(await recordedDeeds(store), [])
})

t.test('an erasure destroys the keys, and only its id is in the job, the list and the audit trail', async (t) => {
  const started = await post(
    path,
    { guest_email },
    { 'x-session-id': 'demo-admin-session', 'x-reason': 'Ticket%204711' },
  )
  const job = await ended(started.json().data.id)
  t.match(job, {
    kind: 'erase',
    status: 'succeeded',
    result: { dry_run: false, keys: 2, at_providers: [], behind: [], is_complete: true },
  })
  t.same(await keys.find({ email: guest_email }), [])
  t.match(await erasures(), [{ id: job.subject, kind: 'person', keys: 2, actor: /^session:/ }])
  t.match(await recordedDeeds(store), [
    {
      data: {
        action: 'erase_person',
        target: { kind: 'erasure', id: job.subject },
        reason: 'Ticket 4711',
        details: { by: 'email', keys: 2 },
      },
    },
  ])
  const { rows } = await pool.query('select jobs::text as text from operations.jobs as jobs')
  const deeds = (await recordedDeeds(store)).map(({ data, metadata }) => ({ data, metadata }))
  t.notMatch(JSON.stringify([rows, deeds]), 'canary')
})

t.test('an unknown person is 404, and a request that does not name one person is rejected', async (t) => {
  for (const body of [{ guest_email }, { user_id: 'nobody' }, { payment_id: '018f0000-0000-7000-8000-000000000000' }])
    t.match((await post(path, body)).json(), { error: { code: 'not_found' } })
  for (const body of [{}, { user_id: '1', guest_email }, { guest_email: 'not an e-mail' }, { name: 'Ada' }])
    t.match((await post(path, body)).json(), { error: { code: 'invalid_request' } }, JSON.stringify(body))
})
