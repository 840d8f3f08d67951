import t from 'tap'
import { parseTestData } from './testData.ts'

t.test('parseTestData reads an object or nothing', async (t) => {
  t.same(parseTestData('{"amount": 1}'), { value: { amount: 1 } })
  t.same(parseTestData(' \n'), {})
  t.same(parseTestData('{'), { problem: 'It is not JSON' })
  for (const other of ['[]', '1', 'null', '"x"']) t.same(parseTestData(other), { problem: 'It must be an object' })
})
