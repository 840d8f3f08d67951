// A short campaign. `npm run campaign` runs longer ones.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import type { Violation } from './judge/observations.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const kills = testCycles(4)

t.test('kills of random processes under load leave nothing that an outside judge objects to', async (t) => {
  const out = join(t.testdir(), 'campaign.json')
  const options = ['--kills', String(kills), '--seed', '20260101', '--minutes', '0.2', '--out', out]
  const campaign = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => campaign.kill())
  const [report, errors] = await Promise.all([text(campaign.stdout), text(campaign.stderr), once(campaign, 'exit')])
  t.match(report, /^violations +\d+$/m, errors)
  const { violations } = JSON.parse(await readFile(out, 'utf8')) as { violations: readonly Violation[] }
  t.same(violations, [], report)
})
