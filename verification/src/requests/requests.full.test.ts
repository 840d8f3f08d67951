// A short run against a whole system. `npm run campaign -- requests` sends more.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

t.test('generated requests on all routes get documented responses only', async (t) => {
  const options = ['--requests', '600', '--seed', '20260101', '--connections', '32']
  const run = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => run.kill())
  const [report, errors] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'exit')])
  t.match(report, /^violations +0$/m, `${report}${errors}`)
})
