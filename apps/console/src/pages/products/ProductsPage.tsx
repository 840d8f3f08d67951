// The catalogue: list, create, edit, sync.
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { Product } from '../../api/apiTypes.ts'
import { countText } from '../../format/count.ts'
import { CsvButton } from '../../parts/CsvButton.tsx'
import { FilterBar, OrderChoice } from '../../parts/filters/FilterBar.tsx'
import { noMatchOf } from '../../parts/filters/filterTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { useMay } from '../../session/rights.ts'
import { ProductDialog } from './ProductDialog.tsx'
import { productColumns, selectionColumn } from './productColumns.tsx'
import { productFilters, productOrders } from './productFilters.ts'
import { type ProductsSearch, productsQuery } from './productsSearch.ts'
import { SyncDialog } from './SyncDialog.tsx'

const route = getRouteApi('/products')
const rowKey = ({ id }: Product) => id

/** What the open dialog is about. */
type Opened = 'create' | 'sync' | null

export function ProductsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = productsQuery(search)
  const list = useLiveList({
    queryKey: ['products', query],
    queryFn: ({ signal }) => bodyOf(api.listProducts({ query, signal })),
    rowKey,
    isLive: search.cursor === undefined,
  })
  const page = list.query.data
  const change = (changes: ProductsSearch) =>
    void navigate({ search: (now) => ({ ...now, cursor: undefined, ...changes }) })
  const filtered = { filters: productFilters, values: search, change }
  const may = useMay()
  const [opened, setOpened] = useState<Opened>(null)
  const [selected, setSelected] = useState<readonly Product[]>([])
  const toggle = (product: Product) =>
    setSelected((all) => {
      const others = all.filter(({ id }) => id !== product.id)
      return others.length < all.length ? others : [...all, product]
    })
  const close = () => setOpened(null)
  return (
    <Page
      title="Products"
      lead={page?.pagination && countText(page.pagination.total, 'product')}
      actions={
        <>
          <CsvButton
            operation="listProducts"
            query={query}
            meta={page?.pagination && { total: page.pagination.total, total_is_exact: true }}
          />
          {may('syncProducts') && selected.length > 0 && (
            <Button size="xs" variant="default" onClick={() => setOpened('sync')}>
              Sync {selected.length} selected
            </Button>
          )}
          {may('createProduct') && (
            <Button size="xs" onClick={() => setOpened('create')}>
              New product
            </Button>
          )}
        </>
      }
    >
      <FilterBar what="products" search={{ name: 'search', placeholder: 'Name or description' }} {...filtered}>
        <OrderChoice choices={productOrders} search={search} change={change} />
      </FilterBar>
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panel">
        <QueryTable
          what="products"
          query={list.query}
          rowsOf={({ data }) => data}
          columns={
            may('syncProducts') ? [selectionColumn(selected.map(rowKey), toggle), ...productColumns] : productColumns
          }
          rowKey={rowKey}
          rowLink={({ id }) => ({ to: '/products/$id', params: { id } })}
          empty={{
            title: 'No products yet',
            hint: may('createProduct') && 'Create the first one with “New product”, or over the API.',
          }}
          noMatch={noMatchOf({ ...filtered, search: 'search' })}
        />
        <Pager cursor={search.cursor} next={page?.meta.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
      {opened === 'create' && <ProductDialog id={null} close={close} />}
      {opened === 'sync' && <SyncDialog products={selected} close={close} />}
    </Page>
  )
}
