// Warnings about lines that are valid but doubtful.
import t from 'tap'
import type { ImportedLine } from './importLines.ts'
import { createWarningCheck, rememberedIds, warningJson, warningText } from './importReport.ts'
import { unknownFields } from './productLine.ts'

const warningOf = (value: object) => {
  const [warning] = createWarningCheck()({
    line: 7,
    end: 0,
    outcome: 'added',
    id: undefined,
    unknown: unknownFields(value),
  })
  return warning && { text: warningText(7, warning), json: warningJson(7, warning) }
}

t.test('known fields of requests and API responses cause no warning', async (t) => {
  const fields = 'id name description product_type is_recurring subtotal_cents tax_cents discount_cents total_cents'
  const more = 'currency billing_interval trial_days category_id is_active created_at updated_at'
  t.equal(warningOf(Object.fromEntries(`${fields} ${more}`.split(' ').map((name) => [name, 1]))), undefined)
})

t.test('a warning names only a few unknown fields, and only plain words', async (t) => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => [`field_${index}`, 'hush'])
  const lead = 'line 7: ignored unknown fields:'
  t.same(warningOf({ discount: 'hush', 'category-id': { deep: 'hush' } }), {
    text: `${lead} discount, category-id`,
    json: { line: 7, warning: { code: 'unknown_fields', fields: ['discount', 'category-id'] } },
  })
  t.equal(warningOf(Object.fromEntries(names(5)))?.text, `${lead} field_0, field_1, field_2, field_3, field_4`)
  t.same(warningOf(Object.fromEntries([...names(7), ['two words', 1]])), {
    text: `${lead} field_0, field_1, field_2, field_3, field_4, 3 more`,
    json: {
      line: 7,
      warning: { code: 'unknown_fields', fields: ['field_0', 'field_1', 'field_2', 'field_3', 'field_4'], more: 3 },
    },
  })
  const odd = ['', 'two words', 'a\u001b[2J', 'x\n', 'caf\u00e9', '1', '-', 'a@example.com', 'x'.repeat(41)]
  for (const name of odd) t.equal(warningOf({ [name]: 1 })?.text, `${lead} 1 with an unusual name`, name)
  t.equal(warningOf({ '1': 1, '2': 2 })?.text, `${lead} 2 with unusual names`)
  t.equal(warningOf({ ['x'.repeat(40)]: 1, constructor: 1 })?.text, `${lead} ${'x'.repeat(40)}, constructor`)
})

t.test('a repeated id causes a warning when its line changes the product', async (t) => {
  const watch = createWarningCheck()
  const id = '0198f2a0-5b1e-7c3d-8e4f-a1b2c3d4e5f6'
  const warned = (line: number, wanted: object) =>
    watch({ line, end: 0, outcome: 'unchanged', id, unknown: undefined, ...wanted }).map((each) =>
      warningText(line, each),
    )
  t.same(warned(1, { outcome: 'changed' }), [])
  t.same(warned(2, {}), [])
  t.same(warned(3, { outcome: 'changed', id: id.replace('f6', 'f7') }), [])
  t.same(warned(9, { outcome: 'changed' }), ['line 9: the same id as line 2, with different content'])
  t.same(warned(10, { outcome: 'changed', id: undefined }), [])
  t.same(warned(11, { outcome: 'changed' }), ['line 11: the same id as line 9, with different content'])
})

t.test('repeated ids are found among the latest lines only', async (t) => {
  const line = (number: number, outcome: 'added' | 'changed' = 'added'): ImportedLine => {
    const id = `0198f2a0-5b1e-7c3d-8e4f-${String(number).padStart(12, '0')}`
    return { line: number, end: 0, outcome, id, unknown: undefined }
  }
  const watch = createWarningCheck()
  for (let number = 1; number <= 3 * rememberedIds; number++) watch(line(number))
  t.equal(watch(line(2 * rememberedIds + 1, 'changed')).length, 1)
  t.equal(watch(line(1, 'changed')).length, 0)
})
