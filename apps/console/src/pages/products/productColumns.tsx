// The columns of the catalogue.
import { Checkbox, UnstyledButton } from '@mantine/core'
import type { Product } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'

type Options = {
  readonly selected: readonly string[]
  /** Undefined for whoever may not sync, and so needs no selection. */
  readonly toggle: ((product: Product) => void) | undefined
  /** Undefined for whoever may not edit. */
  readonly edit: ((product: Product) => void) | undefined
}

export const productColumns = ({ selected, toggle, edit }: Options): readonly Column<Product>[] => [
  ...(toggle ? [selection(selected, toggle)] : []),
  {
    header: 'Product',
    narrow: 'title',
    cell: (product) =>
      edit ? (
        <UnstyledButton
          className="linkButton clamped"
          aria-label={`Edit ${product.name}`}
          onClick={() => edit(product)}
        >
          {product.name}
        </UnstyledButton>
      ) : (
        <span className="clamped">{product.name}</span>
      ),
    note: ({ product_type, category_id }) => [product_type, category_id].filter(Boolean).join(' · '),
  },
  {
    header: 'Price',
    isNumber: true,
    narrow: 'figure',
    cell: ({ total_cents, currency }) => <Money cents={total_cents} currency={currency} />,
  },
  {
    header: 'Billed',
    isShort: true,
    narrow: 'detail',
    cell: ({ billing_interval }) => (billing_interval === null ? 'once' : `every ${billing_interval}`),
  },
  {
    header: 'State',
    isShort: true,
    narrow: 'detail',
    cell: ({ is_active }) => <Badge text={is_active ? 'active' : 'inactive'} />,
  },
  { header: 'Updated', cell: ({ updated_at }) => <Time value={updated_at} /> },
]

const selection = (selected: readonly string[], toggle: (product: Product) => void): Column<Product> => ({
  header: 'Select',
  isShort: true,
  narrow: 'before',
  cell: (product) => (
    <Checkbox
      size="xs"
      aria-label={`Select ${product.name}`}
      checked={selected.includes(product.id)}
      onChange={() => toggle(product)}
    />
  ),
})
