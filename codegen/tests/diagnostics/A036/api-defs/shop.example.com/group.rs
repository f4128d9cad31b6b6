//! What a shop sells.

#![group("shop.example.com")]
#![version(v1)]
#![gate(ShopSale, alpha)]
#![gate(ShopTills)]
#![gate(ShopDoors, ga)]
#![gate(shop_lifts, alpha)]
