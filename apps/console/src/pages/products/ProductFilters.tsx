// The filters of the catalogue.
import { ChoiceFilter, ClearFilters, choicesOf, FlagFilter, OrderFilter, TextFilter } from '../../parts/filters.tsx'
import { type ProductsSearch, productTypes } from './productsSearch.ts'

const orders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
  { value: 'name asc', label: 'By name' },
  { value: 'subtotal_cents desc', label: 'Highest price first' },
  { value: 'subtotal_cents asc', label: 'Lowest price first' },
]
const names = ['search', 'product_type', 'category_id', 'is_recurring', 'is_active'] as const

export function ProductFilters({
  search,
  change,
}: {
  readonly search: ProductsSearch
  readonly change: (changes: ProductsSearch) => void
}) {
  return (
    <search className="filterPanel" aria-label="Filters">
      <div className="filters">
        <TextFilter
          isWide
          label="Search"
          placeholder="Name or description"
          value={search.search}
          change={(text) => change({ search: text })}
        />
        <ChoiceFilter
          label="Type"
          any="Any"
          choices={choicesOf(productTypes)}
          value={search.product_type}
          change={(product_type) => change({ product_type })}
        />
        <TextFilter label="Category" value={search.category_id} change={(category_id) => change({ category_id })} />
        <FlagFilter label="Recurring" value={search.is_recurring} change={(is_recurring) => change({ is_recurring })} />
        <FlagFilter label="Active" value={search.is_active} change={(is_active) => change({ is_active })} />
        <OrderFilter choices={orders} search={search} change={change} />
      </div>
      <div className="row">
        <ClearFilters names={names} search={search} change={change} />
      </div>
    </search>
  )
}
