// The columns of the catalogue.
import { Checkbox, UnstyledButton } from '@mantine/core'
import type { Product } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Dash, Time } from '../../parts/Time.tsx'

export const productColumns = (options: {
  readonly selected: readonly string[]
  readonly toggle: (product: Product) => void
  readonly edit: (product: Product) => void
}): readonly Column<Product>[] => [
  {
    header: 'Select',
    isShort: true,
    cell: (product) => (
      <Checkbox
        size="xs"
        aria-label={`Select ${product.name}`}
        checked={options.selected.includes(product.id)}
        onChange={() => options.toggle(product)}
      />
    ),
  },
  {
    header: 'Product',
    cell: (product) => (
      <UnstyledButton
        className="linkButton clamped"
        aria-label={`Edit ${product.name}`}
        onClick={() => options.edit(product)}
      >
        {product.name}
      </UnstyledButton>
    ),
  },
  { header: 'Type', isShort: true, cell: ({ product_type }) => product_type },
  {
    header: 'Price',
    isNumber: true,
    cell: ({ total_cents, currency }) => <Money cents={total_cents} currency={currency} />,
  },
  {
    header: 'Billed',
    isShort: true,
    cell: ({ billing_interval }) => (billing_interval === null ? 'once' : `every ${billing_interval}`),
  },
  {
    header: 'Category',
    cell: ({ category_id }) => (category_id === null ? <Dash /> : <span className="clamped">{category_id}</span>),
  },
  { header: 'State', isShort: true, cell: ({ is_active }) => <Badge text={is_active ? 'active' : 'inactive'} /> },
  { header: 'Updated', isShort: true, cell: ({ updated_at }) => <Time value={updated_at} /> },
]
