// The catalogue: list, create, edit, sync.
import { Button } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { Product } from '../../api/apiTypes.ts'
import { NewRows } from '../../parts/NewRows.tsx'
import { Page } from '../../parts/Page.tsx'
import { Pager } from '../../parts/Pager.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { useLiveList } from '../../parts/useLiveList.ts'
import { ProductDialog } from './ProductDialog.tsx'
import { ProductFilters } from './ProductFilters.tsx'
import { productColumns } from './productColumns.tsx'
import { type ProductsSearch, productsQuery } from './productsSearch.ts'
import { SyncDialog } from './SyncDialog.tsx'

const route = getRouteApi('/products')
const rowKey = ({ id }: Product) => id

/** What the open dialog is about. */
type Opened =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit'; readonly id: string }
  | { readonly kind: 'sync' }
  | null

const countText = (total: number) => (total === 1 ? '1 product' : `${total.toLocaleString()} products`)

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
      lead={page?.pagination && countText(page.pagination.total)}
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            disabled={selected.length === 0}
            onClick={() => setOpened({ kind: 'sync' })}
          >
            Sync {selected.length === 0 ? 'selected' : `${selected.length} selected`}
          </Button>
          <Button size="xs" onClick={() => setOpened({ kind: 'create' })}>
            New product
          </Button>
        </>
      }
    >
      <ProductFilters search={search} change={change} />
      <NewRows count={list.newCount} show={list.showNew} />
      <div className="panel">
        <QueryTable
          what="products"
          query={list.query}
          rowsOf={({ data }) => data}
          columns={productColumns({
            selected: selected.map(rowKey),
            toggle,
            edit: ({ id }) => setOpened({ kind: 'edit', id }),
          })}
          rowKey={rowKey}
          empty={{ title: 'No products', hint: 'None match these filters.' }}
        />
        <Pager cursor={search.cursor} next={page?.meta.next_cursor} show={(cursor) => change({ cursor })} />
      </div>
      {opened?.kind === 'create' && <ProductDialog id={null} close={close} />}
      {opened?.kind === 'edit' && <ProductDialog id={opened.id} close={close} />}
      {opened?.kind === 'sync' && <SyncDialog products={selected} close={close} />}
    </Page>
  )
}
