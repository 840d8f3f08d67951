// GET /admin/events/checkpoint: what the manifest of an export names.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { findCheckpoint } from '@paylog/audit-log/exportCheckpoint'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'

const ExportCheckpoint = Type.Object(
  {
    note: Type.String({ description: 'A signed note with a checkpoint of the tree of the log' }),
    consistency: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description:
        'Of an export whose lines are the first events of the log: the hashes in base64 that lead from the tree of its lines to ' +
        'that of the checkpoint; none when the checkpoint is not larger. Null for others',
    }),
  },
  { title: 'ExportCheckpoint' },
)

const exampleNote = [
  'payments.example.com/log\n1200\nUNhY4JhezH9gQYqvDMWrWH9CwlcKiECVqejMrND2VFw=\n',
  '— payments.example.com/log oaUjEpPI55uoguMERrwy6OBQgUpQZJUMraG30YGC8dRchvz/HkEN8GLfRK+Jgw1lvnpyOXE5uqFC0o+LQ3pqHWLNmgo=\n',
].join('\n')

const schema = {
  ...administratorSchema('system', 'findExportCheckpoint', 'Find the checkpoint of an export'),
  description:
    'For administrators. The smallest signed checkpoint that covers all events of an export; for an export from the start of the ' +
    'log otherwise the newest one, which covers its first events. Null when there is none yet.',
  querystring: Type.Object({
    last_position: Type.String({ pattern: '^[0-9]{1,19}$', description: 'Position of its last event' }),
    count: Type.Integer({ minimum: 1, description: 'The number of its events' }),
  }),
  response: {
    200: dataResponse(Type.Union([ExportCheckpoint, Type.Null()]), {
      description: 'The checkpoint',
      examples: [{ note: exampleNote, consistency: [] }],
    }),
  },
}

export function checkpointRoute({ pool, administrator }: OperatorDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get('/admin/events/checkpoint', { onRequest: administrator, schema }, async ({ query }) => {
      const found = await findCheckpoint(pool, { last: BigInt(query.last_position), count: query.count })
      const data = found && { note: found.note, consistency: found.consistency && [...found.consistency] }
      return { success: true as const, data }
    })
  }
}
