import t from 'tap'
import { withNamedSchemas } from './openApiNames.ts'

const money = { title: 'Money', type: 'object', properties: { amount: { type: 'integer' } } }

t.test('a schema with a title becomes a reference, wherever it is used', async (t) => {
  const schemas = {}
  const list = { title: 'List', type: 'array', items: { anyOf: [money, { type: 'null' }] } }
  t.same(withNamedSchemas([{ schema: list }, { schema: money }], schemas), [
    { schema: { $ref: '#/components/schemas/List' } },
    { schema: { $ref: '#/components/schemas/Money' } },
  ])
  t.same(schemas, {
    Money: { type: 'object', properties: { amount: { type: 'integer' } } },
    List: { type: 'array', items: { anyOf: [{ $ref: '#/components/schemas/Money' }, { type: 'null' }] } },
  })
})

t.test('description and default stay where a named schema is used', async (t) => {
  const schemas = {}
  const order = { title: 'Order', enum: ['asc', 'desc'] }
  t.same(
    withNamedSchemas(
      [
        { ...order, default: 'asc' },
        { ...order, description: 'Of the list' },
      ],
      schemas,
    ),
    [
      { $ref: '#/components/schemas/Order', default: 'asc' },
      { $ref: '#/components/schemas/Order', description: 'Of the list' },
    ],
  )
  t.same(schemas, { Order: { enum: ['asc', 'desc'] } })
})

t.test('a title in an example is data', async (t) => {
  const media = { schema: { type: 'object' }, example: { title: 'Doctor' } }
  t.same(withNamedSchemas(media, {}), media)
})

t.test('two different schemas with one title are an error', async (t) => {
  const other = { ...money, properties: { amount: { type: 'string' } } }
  t.throws(() => withNamedSchemas([money, other], {}), { message: /title Money/ })
})
