import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { keysHarness } from './testing/keysHarness.ts'

t.test('every key that a killed process used exists, and its successor goes on with the same ones', async (t) => {
  const { databaseUrl, pool, masterKeys, start } = await keysHarness(t)
  const script = new URL('fixtures/makingKeys.ts', import.meta.url)
  const masterKey = masterKeys[0].key.export().toString('base64')
  const run = () => startProcess(t, { script, args: [databaseUrl, masterKey] })
  const processes = await Promise.all([run(), run()])
  await waitFor(() => processes.every((each) => each.output().length > 5_000), { what: 'some keys' })
  await Promise.all(processes.map((each) => each.kill('SIGKILL')))
  const [one = [], other = []] = processes.map((each) => each.output().split('\n').slice(0, -1))
  const shared = Math.min(one.length, other.length)
  t.same(one.slice(0, shared), other.slice(0, shared), 'both used the same keys')
  const { rows } = await pool.query<{ id: string }>('select id from privacy.keys')
  const stored = new Set(rows.map(({ id }) => id))
  t.same(
    [...one, ...other].filter((id) => !stored.has(id)),
    [],
  )
  const [first] = await (await start()).named(['user:0'])
  t.equal(first?.id, one[0])
})

t.test('a key is on disk before it is used, whatever the server is configured to', async (t) => {
  const { databaseUrl, pool, start } = await keysHarness(t)
  const database = new URL(databaseUrl).pathname.slice(1)
  await pool.query(`alter database ${database} set synchronous_commit = off`)
  await pool.query(
    `create function privacy.record_setting() returns trigger language plpgsql as
     $$ begin new.bucket = current_setting('synchronous_commit'); return new; end $$`,
  )
  await pool.query(
    'create trigger setting before insert on privacy.keys for each row execute function privacy.record_setting()',
  )
  await (await start()).named(['user:a'])
  t.same((await pool.query('select bucket from privacy.keys')).rows, [{ bucket: 'on' }])
})
