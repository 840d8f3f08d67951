// The campaign of the full lane: five minutes of faults, or TEST_CAMPAIGN_MINUTES. `npm run campaign` runs longer ones.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const main = fileURLToPath(new URL('../campaign.ts', import.meta.url))
const minutes = process.env.TEST_CAMPAIGN_MINUTES ?? '5'
const timeoutMs = 600_000
t.setTimeout(timeoutMs)

t.test('minutes of faults under load leave nothing that a judge from outside objects to', async (t) => {
  t.setTimeout(timeoutMs)
  const logs = join(t.testdir(), 'logs')
  // Other tests run on the same cores: the load is small, and the system has more time to recover.
  const options = ['--minutes', minutes, '--load', '2', '--limit', '120', '--logs', logs]
  const campaign = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => campaign.kill())
  const [report, errors, [code]] = await Promise.all([
    text(campaign.stdout),
    text(campaign.stderr),
    once(campaign, 'exit'),
  ])
  t.equal(code, 0, `${report}${errors}`)
  t.match(report, /^violations +0$/m)
  t.comment(report)
})
