// GET /admin/me: the caller, and what they may do. It is not audited: it shows nothing of others.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { sessionOf } from '@paylog/commands/request/requestContext'
import { exampleId } from '@paylog/domain/examples'
import { Nullable } from '@paylog/domain/fields'
import { rights } from '@paylog/domain/rights'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { administratorSchema } from '../routeSchemas.ts'

const Me = Type.Object(
  {
    user: Type.Object({ id: Type.String(), email: Nullable(Type.String()), user_type: Type.String() }),
    rights: Type.Array(Type.Enum([...rights])),
    refund_limit_cents: Nullable(
      Type.Integer({
        description:
          'The largest single refund: 50000 is 500.00, in a currency without decimals 500, with three 500.000. Null for no limit, and without the right refund',
      }),
    ),
  },
  { title: 'Me' },
)

const example = {
  user: { id: exampleId, email: 'support@example.com', user_type: 'support' },
  rights: ['read', 'refund'],
  refund_limit_cents: 50_000,
}

export function meRoutes(): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/me',
      {
        config: { right: rights },
        schema: {
          ...administratorSchema('system', 'getMe', 'Get the caller and their rights'),
          description: 'For whoever has a right.',
          response: { 200: dataResponse(Me, { description: 'The caller, and what they may do', examples: [example] }) },
        },
      },
      async (request) => {
        const { user_id: id, user_email: email, user_type, rights, refund_limit_cents } = sessionOf(request)
        const user = { id, email, user_type }
        return { success: true as const, data: { user, rights: [...rights], refund_limit_cents } }
      },
    )
  }
}
