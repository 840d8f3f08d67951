import t from 'tap'
import { isLeaf, type LeafFields, leafData, leafHash } from './leaf.ts'
import { naiveLeafHash } from './testing/naiveTree.ts'

const event: LeafFields = {
  stream: 'payment-ä',
  revision: 258n,
  id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  type: 'PaymentInitiated',
  metadata: Buffer.from('{}'),
  data: Buffer.from('{"a":1}'),
}

t.test('the leaf data of an event has the documented layout', (t) => {
  const text = (value: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(Buffer.byteLength(value))
    return Buffer.concat([length, Buffer.from(value)])
  }
  const texts = ['payment-ä', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'PaymentInitiated', '{}', '{"a":1}'].map(text)
  t.same(leafData(event), Buffer.concat([Buffer.from('010000000000000102', 'hex'), ...texts]))
  t.same(leafHash(event), naiveLeafHash(leafData(event)))
  t.end()
})

t.test('events that differ in one field, or where a field ends, have different leaves', (t) => {
  const others: LeafFields[] = [
    event,
    { ...event, stream: 'payment-b' },
    { ...event, revision: 259n },
    { ...event, id: '3f2504e0-4f89-41d3-9a0c-0305e82c3302' },
    { ...event, type: 'PaymentInitiated.v2' },
    { ...event, metadata: Buffer.from('{} ') },
    { ...event, data: Buffer.from('{"a":2}') },
    { ...event, metadata: Buffer.from('{}{'), data: Buffer.from('"a":1}') },
    { ...event, stream: 'payment-ä3', id: 'f2504e0-4f89-41d3-9a0c-0305e82c3301' },
  ]
  t.equal(new Set(others.map((each) => leafHash(each).toString('hex'))).size, others.length)
  t.end()
})

t.test('events of the server are no leaves', (t) => {
  t.same(
    ['payment-1', '$stats', '$$payment-1'].map((stream) => isLeaf({ stream })),
    [true, false, false],
  )
  t.end()
})
