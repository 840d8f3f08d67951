// The columns of the catalogue.
import { Checkbox } from '@mantine/core'
import type { Product } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Money } from '../../parts/Money.tsx'
import { Time } from '../../parts/Time.tsx'
import { billingText } from './productTexts.ts'

export const productColumns: readonly Column<Product>[] = [
  {
    header: 'Product',
    narrow: 'title',
    cell: ({ name }) => <span className="clamped">{name}</span>,
    note: ({ product_type, category_id }) => [product_type, category_id].filter(Boolean).join(' · '),
  },
  {
    header: 'Price',
    isNumber: true,
    narrow: 'figure',
    cell: ({ total_cents, currency }) => <Money cents={total_cents} currency={currency} />,
    note: ({ tax_cents, currency }) =>
      tax_cents > 0 && (
        <>
          <Money cents={tax_cents} currency={currency} /> of it tax
        </>
      ),
  },
  { header: 'Billed', isShort: true, narrow: 'detail', cell: billingText },
  {
    header: 'State',
    isShort: true,
    narrow: 'detail',
    cell: ({ is_active }) => <Badge text={is_active ? 'active' : 'inactive'} />,
  },
  { header: 'Updated', cell: ({ updated_at }) => <Time value={updated_at} /> },
]

/** @param selected the ids of the selected products */
export const selectionColumn = (selected: readonly string[], toggle: (product: Product) => void): Column<Product> => ({
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
