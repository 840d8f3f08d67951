// GET /admin/attention: what a human has to look at.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { AttentionItem, exampleAttention } from './item.ts'

const schema = {
  ...administratorSchema('system', 'listAttention', 'List what a human has to look at'),
  description:
    'For administrators. The worst first; one item for each endpoint, read model and provider, and one for each code of payments. ' +
    'A part that cannot be read is an item `attention_unknown`; without Postgres the response is 503.',
  response: {
    200: dataResponse(Type.Array(AttentionItem), {
      description: 'As of at most a few seconds ago; empty when nothing needs attention',
      examples: [exampleAttention, []],
    }),
  },
}

export const attentionRoutes =
  ({ attention }: Pick<OperatorDependencies, 'attention'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    http.get('/admin/attention', { config: { right: 'read' }, schema }, async () => {
      const { items } = await attention.read()
      return { success: true as const, data: [...items] }
    })
  }
