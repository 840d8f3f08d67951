// The schema of the system page.
import { Checks } from '@paylog/runtime/http/openApiSchemas'
import { type Static, Type } from 'typebox'

export const ProcessState = Type.Object(
  {
    name: Type.String(),
    status: Type.Enum(['ready', 'unavailable', 'stopping', 'unreachable'], {
      description: 'As its health page says; unreachable when that does not respond within two seconds',
    }),
    checks: Checks,
    ms: Type.Number({ description: 'How long the health page took to respond' }),
  },
  { title: 'Process' },
)
export type ProcessState = Static<typeof ProcessState>

export const SystemState = Type.Object(
  {
    version: Type.String({ description: 'The version of Paylog that responds' }),
    processes: Type.Array(ProcessState, { description: 'The process that responds, then those of HEALTH_URLS' }),
  },
  { title: 'System' },
)
export type SystemState = Static<typeof SystemState>

export const exampleSystem: SystemState = {
  version: '1.0.0',
  processes: [
    { name: 'api', status: 'ready', checks: { event_store: { ok: true, head: '4711' } }, ms: 1.2 },
    { name: 'worker', status: 'unreachable', checks: {}, ms: 2000.4 },
  ],
}
