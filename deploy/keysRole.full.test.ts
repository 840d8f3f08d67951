// The login of the command API: created by roles.sql, with the grants of `ops migrate`.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createActivityRecorder, readActivity } from '@paylog/commands/provider-activity/activity'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startTestKeys } from '@paylog/testing/dataKeys'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import pg from 'pg'
import t from 'tap'
import { createRoles } from './testing/roles.ts'

const ops = fileURLToPath(new URL('../apps/ops/src/main.ts', import.meta.url))
const run = promisify(execFile)

t.test(
  'the login of the command API may read and add keys, and record what providers do, and nothing else',
  async (t) => {
    const { ownerUrl, commandUrl, keysRole } = await createRoles(t)
    const migrate = async (role: string): Promise<Readonly<Record<'keys' | 'activity', readonly string[]>>> => {
      const env = { ...moduleLoading, DATABASE_URL: ownerUrl, KEYS_ROLE: role }
      return JSON.parse((await run(process.execPath, [ops, 'migrate', '--json'], { env })).stdout)
    }
    await t.rejects(migrate('nobody_at_all'), /KEYS_ROLE: there is no role nobody_at_all/)
    const tables = ['privacy.keys', 'privacy.emails', 'privacy.lookup_secret']
    const activity = ['providers.activity', 'providers.refused_signatures']
    t.match(await migrate(keysRole), { keys: tables, activity })
    t.match(await migrate(keysRole), { keys: [], activity: [] }, 'repeated')
    const keys = await startTestKeys(t, commandUrl)
    await keys.seen('user:a', 'ada@example.com')
    const [key] = await keys.named(['user:a'])
    t.same(await keys.find({ email: 'ada@example.com' }), [key?.id])
    await keys.check()
    const recorder = createActivityRecorder({ db: keys.db, now: () => new Date(), log: createLog({ app: 'test' }) })
    recorder.refusedSignature('stripe')
    await recorder.close()
    t.match(await readActivity(keys.db), [{ provider_id: 'stripe', signatures_refused_lately: 1 }])
    const login = new pg.Client({ connectionString: commandUrl })
    await login.connect()
    t.teardown(() => login.end())
    for (const statement of [
      ...[...tables, ...activity].flatMap((table) => [`delete from ${table}`, `truncate ${table}`]),
      'update privacy.keys set destroyed_at = now()',
      'update privacy.lookup_secret set wrapped = null',
      'select * from read_models.payments',
      'select * from webhooks.log',
      'select * from operations.jobs',
      'create table privacy.mine (id int)',
      'create table public.mine (id int)',
      'create schema mine',
    ])
      await t.rejects(login.query(statement), { code: '42501' }, statement)
  },
)
