// The fields of a product.
import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { choicesOf } from '../../parts/fields.tsx'
import { intervals, type ProductForm, type problemsOf } from './productForm.ts'
import { productTypes } from './productsSearch.ts'

type Props = {
  readonly form: ProductForm
  readonly change: (changes: Partial<ProductForm>) => void
  readonly problems: ReturnType<typeof problemsOf>
}

export function ProductFields(props: Props) {
  const { form, change } = props
  return (
    <>
      <Text {...props} label="Name" field="name" isRequired />
      <Textarea
        label="Description"
        value={form.description}
        autosize
        maxRows={6}
        onChange={({ currentTarget }) => change({ description: currentTarget.value })}
      />
      <div className="formGrid">
        <NativeSelect
          label="Type"
          data={choicesOf(productTypes)}
          value={form.product_type}
          onChange={({ currentTarget }) => change({ product_type: currentTarget.value })}
        />
        <Text {...props} label="Category" field="category_id" />
        <Text {...props} label="Currency" field="currency" isRequired />
        <Text {...props} label="Price before tax" field="subtotal" isRequired isAmount />
        <Text {...props} label="Tax" field="tax" isAmount />
        <Text {...props} label="Discount" field="discount" isAmount />
        <NativeSelect
          label="Billed"
          data={[
            { value: '', label: 'Once' },
            ...choicesOf(intervals).map(({ value, label }) => ({ value, label: `Every ${label.toLowerCase()}` })),
          ]}
          value={form.billing_interval}
          onChange={({ currentTarget }) => change({ billing_interval: currentTarget.value })}
        />
        {form.billing_interval !== '' && <Text {...props} label="Trial days" field="trial_days" />}
      </div>
      <Checkbox
        label="Active"
        description="An inactive product is not synced"
        checked={form.is_active}
        onChange={({ currentTarget }) => change({ is_active: currentTarget.checked })}
      />
    </>
  )
}

function Text(
  props: Props & {
    readonly label: string
    readonly field: Exclude<keyof ProductForm, 'is_active'>
    readonly isRequired?: boolean
    readonly isAmount?: boolean
  },
) {
  const { form, change, problems, label, field, isRequired, isAmount } = props
  return (
    <TextInput
      label={label}
      required={isRequired ?? false}
      inputMode={isAmount ? 'decimal' : 'text'}
      value={form[field]}
      error={problems[field]}
      onChange={({ currentTarget }) => change({ [field]: currentTarget.value })}
    />
  )
}
