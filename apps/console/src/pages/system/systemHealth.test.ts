import t from 'tap'
import type { SystemState } from '../../api/apiTypes.ts'
import { systemProblems } from './systemHealth.ts'

const log = { events: 12, signed_events: 10, signed_at: '2026-01-31T12:00:00.000Z', stopped_because: null }
const system: SystemState = {
  version: '1.0.0',
  processes: [{ name: 'api', status: 'ready', checks: { postgres: { ok: true } }, ms: 1 }],
  log,
}

t.test('each thing that is wrong with the system is a sentence, and nothing is none', async (t) => {
  t.same(systemProblems(system, []), [])
  const checks = { 'event store': { ok: false }, 'projection payment_methods': { ok: false }, queue: { ok: true } }
  const processes = [
    { name: 'worker', status: 'unreachable' as const, checks: {}, ms: 2_000 },
    { name: 'projector', status: 'unavailable' as const, checks, ms: 3 },
  ]
  t.same(systemProblems({ ...system, processes, log: { ...log, stopped_because: 'it is another log' } }, []), [
    'worker: it does not respond: it has ended, hangs, or its address is wrong',
    'projector: the event store does not respond',
    'projector: the read model payment methods is behind or stopped',
    'The log does not verify: it is another log',
  ])
})
