import { queryOptions } from '@tanstack/react-query'
import { api } from '../../api/api.ts'

/** One product with its ETag. */
export const productQuery = (id: string) =>
  queryOptions({
    queryKey: ['product', id],
    queryFn: async ({ signal }) => {
      const { body, headers } = await api.getProduct({ path: { id }, signal })
      return { product: body.data, etag: headers.get('etag') }
    },
  })
